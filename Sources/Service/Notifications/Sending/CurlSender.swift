import Coordination
import Engines
import JobModel
package import Queueing
import Settings

/// Sends messages to webhooks by curl, which knows TLS, proxies and the site's certificates.
///
/// Arguments of a process can be read by all users of the machine, and addresses of webhooks are often secret. So curl
/// gets everything on its standard input.
package struct CurlSender: Sendable {
    private let program: String
    private let limit: Duration

    /// - Parameters:
    ///   - program: A path, or a name that `PATH` leads to.
    ///   - limit: How long a try may take. Whole seconds, at least one.
    package init(program: String = "curl", limit: Duration = .seconds(10)) {
        self.program = program
        self.limit = max(.seconds(1), limit)
    }

    /// curl's configuration in the file ~/.curlrc is not read. Redirections are not followed, so that a receiver cannot
    /// lead the machine to other addresses.
    private var arguments: [String] {
        [
            "--disable", "--proto", "=https,http", "--max-redirs", "0", "--max-time", String(limit.components.seconds),
            "--globoff", "--silent", "--show-error", "--output", "/dev/null", "--write-out", "%{http_code}", "--config",
            "-",
        ]
    }

    /// Sends a message once.
    package func send(
        _ message: WebhookMessage, to address: String, secretFile: String?, now: WallTime
    ) async -> Delivery {
        let secret: WebhookSecret?
        do throws(WebhookSecretError) {
            secret =
                if let secretFile {
                    try await Blocking.run { () throws(WebhookSecretError) in try WebhookSecret.read(secretFile) }
                } else {
                    nil
                }
        } catch {
            return .later(error.message)
        }
        guard let headers = message.headers(at: now, secret: secret) else {
            return .later("the message could not be signed: the library of hashes failed")
        }
        let input = Self.configuration(address, headers, message.body)
        // curl ends by itself first.
        let runner = CommandRunner(limit: limit + .seconds(2), longestOutput: 1 << 16)
        let host = NotificationTarget.host(of: address)
        do throws(CommandError) {
            return Self.delivery(try await runner.run(program, arguments, input: Array(input.utf8)), host: host)
        } catch {
            return .later(error.words(program, remedy: "install curl; webhooks are sent by it"))
        }
    }

    /// The text that curl reads. Values are in quotes, with the escapes that curl knows.
    static func configuration(
        _ address: String, _ headers: [(name: String, value: String)], _ body: String
    ) -> String {
        var lines = ["url = \(quoted(address))", "header = \"Content-Type: application/json\""]
        // Without this, some versions of curl wait for the receiver's consent to the body.
        lines.append("header = \"Expect:\"")
        lines.append("user-agent = \"Penumbra\"")
        lines += headers.map { "header = \(quoted("\($0.name): \($0.value)"))" }
        lines.append("data-raw = \(quoted(body))")
        return lines.map { $0 + "\n" }.joined()
    }

    private static func quoted(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        return "\"" + text.unicodeScalars.reduce(into: "") { $0 += escapes[$1] ?? String($1) } + "\""
    }

    /// The receiver's answer decides, even if curl failed after it.
    static func delivery(_ answer: CommandRunner.Answer, host: String) -> Delivery {
        let host = VisibleText.line(host)
        switch Int(answer.output.suffix(3)) ?? 0 {
        case 200...299: return .delivered
        case let code where (300...399).contains(code):
            return .refused(
                "\(host) answered \(code), a redirection, which is not followed\n   = write the final address into the "
                    + "config file")
        case 408, 429: return .later("\(host) answered \(answer.output.suffix(3)): too many messages, or too slow")
        case let code where (400...499).contains(code):
            return .refused(
                "\(host) refused the message: it answered \(code)\n   = check the address and the secret in the config file"
            )
        case let code where code >= 500: return .later("\(host) answered \(code)")
        default: break
        }
        let words = Delivery.shown(answer.errors)
        let text = "\(host): \(words.isEmpty ? "curl ended with \(answer.status)" : words)"
        // The protocol, or the address, is none that curl knows.
        return answer.exitCode == 1 || answer.exitCode == 3
            ? .refused("\(text)\n   = correct the address in the config file") : .later(text)
    }
}

extension CommandError {
    /// - Parameter remedy: What to do if the program is missing.
    func words(_ program: String, remedy: String) -> String {
        let program = VisibleText.line(program)
        return switch self {
        case .missing: "\(program): there is no such program\n   = \(remedy)"
        case .tooLate: "\(program) took too long, and was ended"
        case .tooLong: "\(program) printed too much, and was ended"
        case .notRun(let reason): "\(program) could not be run: \(VisibleText.line(reason.cut(to: 300)))"
        }
    }
}
