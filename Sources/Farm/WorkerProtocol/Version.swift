/// What `--version` prints. Coordinator and workers of one installation carry the same.
package enum Version {
    package static let penumbra = "0.1.0"

    /// Changes only with the pixels of what is done around the filters: decoding, colours, rounding to the output's samples.
    package static let rendering = "5"
}
