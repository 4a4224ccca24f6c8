/// The notice that a run has kept an output. It is stored until a run finds otherwise, so that each is reported once.
package enum KeptNotice {
    /// All of these notices begin with it.
    package static let kind = "kept: "

    package static func text(_ path: String, reason: String) -> String { beginning(path) + reason }

    /// The notice of this output without its reason.
    static func beginning(_ path: String) -> String { "\(kind)\(path): " }
}
