package import HTTPService
import Page
package import Pictures
package import Queueing
package import QueueStorage
import Runs
package import Settings
package import Supervision

/// What the routes of the API share.
package struct Service: Sendable {
    package let supervisor: Supervisor
    package let store: QueueStore
    package let feed: EventFeed
    package let queries: any FarmQueries
    package let schedules: ScheduleRunner
    package let pictures: PagePictures
    package let about: About
    let settings: Settings
    package let now: @Sendable () -> WallTime
    let unrecordedFrames = UnrecordedFrames()
    /// Ends the streams of a token.
    let tokenWasRevoked: @Sendable (TokenID) -> Void
    /// Ends the streams of a browser.
    let sessionHasEnded: @Sendable (SecretDigest) -> Void

    package init(
        supervisor: Supervisor, store: QueueStore, feed: EventFeed, schedules: ScheduleRunner,
        queries: any FarmQueries, pictures: PagePictures,
        about: About, settings: Settings, now: @escaping @Sendable () -> WallTime,
        tokenWasRevoked: @escaping @Sendable (TokenID) -> Void,
        sessionHasEnded: @escaping @Sendable (SecretDigest) -> Void
    ) {
        self.tokenWasRevoked = tokenWasRevoked
        self.sessionHasEnded = sessionHasEnded
        self.supervisor = supervisor
        self.store = store
        self.feed = feed
        self.queries = queries
        self.pictures = pictures
        self.schedules = schedules
        self.about = about
        self.settings = settings
        self.now = now
    }

    /// What does not change while the service runs.
    package struct About: Sendable {
        package let version: String
        package let processID: Int
        package let started: WallTime
        package let serviceFolder: String
        package let stateFolder: String

        package init(version: String, processID: Int, started: WallTime, serviceFolder: String, stateFolder: String) {
            self.version = version
            self.processID = processID
            self.started = started
            self.serviceFolder = serviceFolder
            self.stateFolder = stateFolder
        }
    }

    /// All routes. What is not among them does not exist.
    package var routes: RouteTable {
        let jobs = jobRoutes + farmRoutes + runRoutes + workRoutes + failureRoutes + queryRoutes + pictureRoutes
        let service = eventRoutes + tokenRoutes + sessionRoutes + scheduleRoutes + auditRoutes + diagnosisRoutes
        let documents = descriptionRoutes + PageRoutes.all
        return RouteTable((jobs + service + documents).map(limitingVisibility))
    }
}

extension APIRequest {
    /// The caller, as the queue knows him. Only his own jobs may be changed, unless he is an administrator.
    func queueCaller() throws(Problem) -> Supervisor.Caller {
        switch caller {
        case .user(let uid, _): Supervisor.Caller(owner: .user(uid))
        case .token(let token):
            Supervisor.Caller(
                owner: .token("\(token.id)"), address: "\(peer)",
                isLimited: token.scope != .admin || token.roots != nil,
                priorityLimit: token.maxPriority.map(PriorityLimit.init))
        case nil: throw .unknownCaller
        }
    }
}
