/// The version that `--version` prints. Coordinator and workers of one installation have the same.
package enum Version {
    /// The only place of this number in the sources. `make dist`, `make sbom` and the packages read it from this line.
    package static let penumbra = "0.2.0"

    /// Changes only if the pixels of work outside of filters change: decoding, colours, rounding to the output's
    /// samples.
    package static let rendering = "5"
}
