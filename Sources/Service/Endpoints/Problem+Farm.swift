import HTTPService
import JobModel
import Pictures
import QueueStorage
import Queueing
import ServiceAPI
import Supervision

extension Problem {
    /// The words of an error, of which the lines after the first one say what to do.
    init(status: Int, kind: String, title: String, message: String, errors: [Finding] = []) {
        let words = Explanation(message: message)
        self.init(
            status: status, kind: kind, title: title, detail: words.summary, remedy: words.remedy, errors: errors)
    }

    /// Routes that need a caller have one.
    static let unknownCaller = Problem(status: 401, kind: "unauthorized", title: "This address needs a caller")

    /// The problem for an error of the queue, or of a request's body. Nil for an error that is the service's own.
    init?(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as BodyError:
            self.init(
                status: 422, kind: "body", title: "The body of the request is not as it should be",
                message: error.message)
        case let error as InputError:
            self.init(status: 422, kind: "value", title: "A value is not accepted", message: error.message)
        case let refusal as Refusal:
            let isUnknown = refusal.problem == .unknownJob
            let isKey = if case .keyIsUsed = refusal.problem { true } else { false }
            self.init(
                status: isUnknown ? 404 : isKey ? 422 : 409, kind: isUnknown ? "no-job" : isKey ? "key" : "state",
                title: isUnknown
                    ? "There is no such job"
                    : isKey ? "The key belongs to another request" : "The job's state does not allow this",
                message: refusal.message)
        case let refusal as ManifestRefusal:
            let errors = refusal.errors.map {
                Finding(line: $0.line, column: $0.column, message: $0.message, remedy: $0.remedy)
            }
            let count = errors.count == 1 ? "1 error" : "\(errors.count) errors"
            self.init(
                status: 422, kind: refusal.outcome == .missingInput ? "no-manifest" : ErrorBody.manifestKind,
                title: "The manifest is not accepted",
                detail: "\(VisibleText.line(refusal.manifest)): \(count)", errors: errors)
        case let refusal as FolderRefusal:
            self.init(
                status: 422, kind: "folders", title: "The job may not run outside of the token's folders",
                message: refusal.message,
                errors: refusal.errors.map { Finding(message: $0.message, remedy: $0.remedy) })
        case let error as Supervisor.ForeignJob:
            self.init(status: 403, kind: "foreign-job", title: "The job is somebody else's", message: error.message)
        case let error as Supervisor.ChangedJob:
            self.init(
                status: 412, kind: "changed", title: "The job has changed since it was read", message: error.message)
        case let error as Supervisor.FullQueue:
            self.init(status: 409, kind: "queue-full", title: "The queue is full", message: error.message)
        case let error as BulkAction.TooLarge:
            self.init(status: 409, kind: "count", title: "Too many jobs match", message: error.message)
        case let error as BulkAction.Mismatch:
            self.init(status: 409, kind: "count", title: "Another number of jobs matches", message: error.message)
        case let error as FarmQueryError: self.init(error)
        case let error as PictureError: self.init(error)
        case let error as QueueStoreError:
            self.init(
                status: 503, kind: "database", title: "The service's database cannot be used", message: error.message)
        case let error as FarmError where error.outcome == .missingInput:
            self.init(status: 404, kind: "no-run", title: "There is no such run", message: error.message)
        case let error as FarmError where error.outcome == .busy:
            self.init(status: 409, kind: "state", title: "The run's state does not allow this", message: error.message)
        case let error as FarmError where error.outcome == .usage || error.outcome == .badManifest:
            self.init(status: 422, kind: "value", title: "A value is not accepted", message: error.message)
        case let error as FarmError:
            self.init(status: 503, kind: "farm", title: "The farm cannot do this now", message: error.message)
        default: return nil
        }
    }
}

/// Makes problems of errors.
func answering(_ body: () async throws -> APIResponse) async throws -> APIResponse {
    do {
        return try await body()
    } catch {
        throw Problem(error) ?? error
    }
}

extension Route {
    /// A route whose errors become problems.
    static func api(
        _ method: RequestMethod, _ path: String, _ access: Access, endsWithClient: Bool = false,
        handler: @escaping Handler
    ) -> Route {
        Route(method, APIPath.root + path, access, endsWithClient: endsWithClient) { request in
            try await answering { try await handler(request) }
        }
    }
}
