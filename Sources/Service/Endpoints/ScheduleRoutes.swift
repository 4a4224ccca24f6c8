import HTTPService
import ServiceAPI
import Supervision

/// Schedules and watched folders. Their jobs may use all folders, so only administrators see and change them.
extension Service {
    var scheduleRoutes: [Route] {
        [
            .api(.get, "/schedules", .admin) { request in
                return try .json(encoding: await schedules.list())
            },
            .api(.post, "/schedules", .admin) { request in
                let body = try StrictJSON.decode(ScheduleRequest.self, from: request.body)
                // What is wrong with its manifest is told now, and not at night.
                _ = try await supervisor.check(body.job.place, name: body.job.source.name, body.job.options)
                let entry = try await answering { try await schedules.add(body, by: request.queueCaller()) }
                return try .json(
                    encoding: entry, status: 201,
                    headers: ["Location": "\(APIPath.root)/schedules/\(APIPath.escaped(entry.request.name))"])
            },
            .api(.patch, "/schedules/{name}", .admin) { request in
                let body = try StrictJSON.decode(ScheduleChange.self, from: request.body)
                return try .json(
                    encoding: await answering {
                        try await schedules.setEnabled(
                            body.isEnabled, request.scheduleName, by: request.queueCaller())
                    })
            },
            .api(.delete, "/schedules/{name}", .admin) { request in
                try request.refuseBody()
                try await answering { try await schedules.remove(request.scheduleName, by: request.queueCaller()) }
                return .empty()
            },
        ]
    }

    /// Makes problems of refusals.
    private func answering<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let refusal as ScheduleRefusal {
            let (status, kind, title) =
                switch refusal {
                case .unknown: (404, "no-schedule", "There is no such schedule")
                case .nameIsUsed: (409, "name", "The name is used")
                case .tooMany: (409, "schedules", "There are too many schedules")
                case .isConfigured, .isRemoved: (409, ErrorBody.configKind, "The config file decides on this schedule")
                }
            throw Problem(status: status, kind: kind, title: title, message: refusal.message)
        }
    }
}

extension APIRequest {
    fileprivate var scheduleName: String { parameters["name"] ?? "" }
}
