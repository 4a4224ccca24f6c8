/// The value of `--color`.
package enum ColorChoice: String, CaseIterable, Sendable {
    /// Colours on a terminal that has them, and nowhere else.
    case auto
    case always
    case never

    /// Whether a stream gets colours.
    ///
    /// With `auto`, `NO_COLOR` (https://no-color.org) and terminals without colours are respected.
    package func isColored(isTerminal: Bool, _ environment: [String: String]) -> Bool {
        switch self {
        case .always: return true
        case .never: return false
        case .auto:
            let terminal = environment["TERM"] ?? ""
            return isTerminal && (environment["NO_COLOR"] ?? "").isEmpty && !terminal.isEmpty && terminal != "dumb"
        }
    }
}
