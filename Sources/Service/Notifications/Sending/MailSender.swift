import Engines
import JobModel

/// Hands mails to the machine's mail system, by the program that all of them have: `sendmail`.
package struct MailSender: Sendable {
    private let program: String
    private let limit: Duration

    /// - Parameters:
    ///   - program: A path.
    ///   - limit: How long the program may take. Then it is killed, with its children.
    package init(program: String, limit: Duration = .seconds(10)) {
        self.program = program
        self.limit = limit
    }

    /// sendmail takes the address from the message (`-t`), and a line with a dot does not end it (`-oi`).
    package func send(_ message: MailMessage) async -> Delivery {
        let runner = CommandRunner(limit: limit, longestOutput: 1 << 16)
        do throws(CommandError) {
            return delivery(try await runner.run(program, ["-t", "-oi"], input: Array(message.text.utf8)))
        } catch {
            return .later(
                error.words(
                    program,
                    remedy:
                        "install a mail system, or name its program in the config file: notifications: {sendmail: PATH}"
                ))
        }
    }

    /// Exit codes are those of `sysexits.h`.
    private func delivery(_ answer: CommandRunner.Answer) -> Delivery {
        let output = Delivery.shown(answer.errors.isEmpty ? answer.output : answer.errors)
        let words =
            "\(VisibleText.line(program)) ended with \(answer.status)" + (output.isEmpty ? "" : ": \(output)")
        return switch answer.exitCode {
        case 0: .delivered
        // A wrong use, a wrong message, an unknown user or host.
        case 64, 65, 67, 68: .refused(words)
        default: .later(words)
        }
    }
}
