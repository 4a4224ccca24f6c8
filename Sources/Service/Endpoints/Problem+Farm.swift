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
            let (status, kind, title) = Self.class(of: refusal.problem)
            self.init(status: status, kind: kind, title: title, message: refusal.message)
        case let refusal as ManifestRefusal:
            let errors = refusal.errors.map {
                Finding(line: $0.line, column: $0.column, message: $0.message, remedy: $0.remedy)
            }
            let count = errors.count == 1 ? "1 error" : "\(errors.count) errors"
            self.init(
                status: 422,
                kind: refusal.outcome == .missingInput
                    ? ErrorBody.missingManifestKind : ErrorBody.manifestKind,
                title: "The manifest is not accepted",
                detail: "\(VisibleText.line(refusal.manifest)): \(count)", errors: errors)
        case let refusal as FolderRefusal:
            self.init(
                status: 422, kind: "folders", title: "The job may not run outside of the token's folders",
                message: refusal.message,
                errors: refusal.errors.map { Finding(message: $0.message, remedy: $0.remedy) })
        case let refusal as PriorityRefusal:
            self.init(
                status: 403, kind: "priority", title: "The token does not allow this priority", message: refusal.message
            )
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

extension Problem {
    private static func `class`(of problem: Refusal.Problem) -> (status: Int, kind: String, title: String) {
        switch problem {
        case .unknownJob: (404, "no-job", "There is no such job")
        case .keyIsUsed: (422, "key", "The key belongs to another request")
        // The request itself is wrong, and stays so.
        case .needsUnknown, .needsItself, .needsLater, .needsTwice, .tooManyNeeds:
            (422, "value", "A value is not accepted")
        case .needsFailed: (409, ErrorBody.needsKind, "The job would never start")
        case .hasEnded, .hasStarted, .isDone, .wasRetried:
            (409, ErrorBody.endedKind, "The job's state does not allow this any more")
        case .isHeld, .isStarting, .isRunning, .hasNotEnded, .unexpected:
            (409, "state", "The job's state does not allow this")
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
        _ method: RequestMethod, _ path: String, _ access: Access, parameters: QueryParameters = [],
        takesKey: Bool = false, endsWithClient: Bool = false, handler: @escaping Handler
    ) -> Route {
        Route(
            method, APIPath.root + path, access, parameters: parameters, takesKey: takesKey,
            endsWithClient: endsWithClient
        ) { request in
            try await answering { try await handler(request) }
        }
    }
}
