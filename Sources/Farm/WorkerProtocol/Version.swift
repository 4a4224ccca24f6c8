/// What `--version` prints. Coordinator and workers of one installation carry the same.
package enum Version {
    package static let penumbra = "0.1.0"
}
