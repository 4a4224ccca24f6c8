import FoundationEssentials

/// Tells the workers of one coordinator of one run from all other processes.
///
/// Each worker has the run's name and the secret in its environment. The claim in the run's folder holds the secret.
package struct CoordinatorToken: Hashable, Sendable {
    /// The environment variable of workers that holds the token's text.
    package static let variable = "PENUMBRA_COORDINATOR"

    package static let host = ProcessInfo.processInfo.hostName

    /// The name of the run.
    package let run: String
    /// 32 random hexadecimal digits and the name of this machine. Nobody can guess it.
    let secret: String

    package init(run: String) {
        self.run = run
        secret = Self.newSecret()
    }

    /// What workers have in their environment. With the run's name in it, a claim that was copied to another run's folder
    /// means none of this run's workers.
    package var text: String { "\(run)/\(secret)" }

    static func newSecret() -> String {
        let digits = (0..<2).map { _ in
            let word = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }
        return "\(digits.joined())@\(host)"
    }
}
