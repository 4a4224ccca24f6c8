package import JobModel
package import ServiceAPI

/// Why a service did not do what it was asked for.
package struct ServiceError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        /// The address is wrong, or the request cannot be sent.
        case address
        /// The token is wrong, or cannot be read.
        case token
        /// Nobody listens.
        case noService
        /// The connection failed for another reason, ended too early, or was silent for too long.
        case connection
        /// The answer breaks the rules of HTTP or of the API.
        case answer
        /// The service has refused the request. The body is nil if the answer has no problem of RFC 9457, as answers of
        /// proxies.
        case refused(status: Int, ErrorBody?)
    }

    package let problem: Problem
    /// One line that says what is wrong. Lines that begin with `   = ` may follow, and say what to do.
    package let message: String

    init(_ problem: Problem, _ message: String) {
        self.problem = problem
        self.message = message
    }

    /// The refusal of a request.
    init(status: Int, _ body: ErrorBody?) {
        problem = .refused(status: status, body)
        message = Self.words(status: status, body)
    }

    /// Of the answer, if there was one.
    package var status: Int? { if case .refused(let status, _) = problem { status } else { nil } }

    /// What a program may ask for: the last part of the problem's type, such as `manifest`.
    package var kind: String? { if case .refused(_, let body) = problem { body?.kind } else { nil } }

    /// The problems of a manifest, with their places.
    package var items: [ErrorBody.Item] {
        if case .refused(_, let body) = problem { body?.errors ?? [] } else { [] }
    }

    /// The exit code of a command.
    package var outcome: RunOutcome {
        switch problem {
        case .address, .token: .usage
        case .noService, .connection, .answer: .unavailable
        case .refused(let status, let body):
            switch status {
            // Nothing is gained if the command is repeated later.
            case 409 where body?.isLasting == true: .usage
            case 422 where body?.kind == ErrorBody.missingManifestKind: .missingInput
            // 412: somebody else has changed the job. 429 and 503: the service asks to come back later.
            case 409, 412, 429, 503: .busy
            case 404, 410: .missingInput
            case 422 where body?.kind == ErrorBody.manifestKind: .badManifest
            case 507: .storage
            case 408, 500...: .unavailable
            // Everything else is a request that this service does not accept from this caller.
            case 400..<500: .usage
            default: .unavailable
            }
        }
    }

    /// So many problems of a manifest are shown.
    private static let mostItems = 100

    private static func words(status: Int, _ body: ErrorBody?) -> String {
        let summary = body?.detail ?? body?.title ?? "the service has answered with status \(status)"
        // The service speaks to programs. Without a detail, the request had no token at all.
        let advice = status == 401 && body?.kind == "unauthorized" && body?.detail == nil ? tokenRemedy : body?.remedy
        var text = shown(Explanation(summary, remedy: advice))
        if body == nil { text += remedy(withoutBody: status) }
        let items = body?.errors ?? []
        for item in items.prefix(mostItems) {
            let place = [item.line.map { "line \($0)" }, item.column.map { "column \($0)" }].compactMap { $0 }
            let prefix = place.isEmpty ? "" : place.joined(separator: ", ") + ": "
            text += "\n" + prefix + shown(Explanation(item.message, remedy: item.remedy))
        }
        if items.count > mostItems { text += "\n\(items.count - mostItems) more problems are not shown" }
        return text
    }

    private static let tokenRemedy = """
        give a token: --token-file FILE, PENUMBRA_TOKEN, or 'token_file' in a config file
        an administrator of the service makes one: 'penumbra token add NAME'
        """

    /// Answers without a problem come from something else than a service.
    private static func remedy(withoutBody status: Int) -> String {
        switch status {
        case 502, 503, 504: "\n   = a proxy has answered: look whether the service runs behind it"
        default: "\n   = look whether a Penumbra service listens at this address"
        }
    }

    /// Texts of a service may contain anything.
    private static func shown(_ explanation: Explanation) -> String {
        Explanation(
            shown(explanation.summary),
            remedy: explanation.remedy?.split(separator: "\n").prefix(8).map { shown(String($0)) }.joined(
                separator: "\n")
        ).message
    }

    static func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(1000))) }
}
