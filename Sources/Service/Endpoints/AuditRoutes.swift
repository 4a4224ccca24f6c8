import HTTPService
import Queueing
import QueueStorage
import ServiceAPI
import Supervision

/// Who changed what.
extension Service {
    var auditRoutes: [Route] {
        [
            .api(.get, "/audit", .admin, parameters: ["before", "limit"], handler: audit)
        ]
    }

    private func audit(_ request: APIRequest) async throws -> APIResponse {
        let before = try request.number("before", 1...Int.max)
        let limit = try request.number("limit", 1...1000) ?? 100
        let (found, names) = try await supervisor.onStore {
            (try $0.auditEntries(before: before, limit: limit + 1), try $0.tokenNames())
        }
        let page = found.prefix(limit)
        return try .json(
            encoding: AuditPage(
                entries: page.map { AuditLine($0, names) }, before: found.count > limit ? page.last?.number : nil))
    }
}

private struct AuditPage: Encodable {
    let entries: [AuditLine]
    /// For the next page, whose entries are older. Nil on the last one.
    let before: Int?
}

private struct AuditLine: Encodable {
    let number: Int
    let at: WallTime
    let caller: String
    /// The name of the caller's token. Nil for another caller.
    let callerName: String?
    let address: String?
    let action: String
    let subject: String
    let detail: String

    private enum CodingKeys: String, CodingKey {
        case number, at, caller
        case callerName = "caller_name"
        case address, action, subject, detail
    }

    init(_ entry: NumberedAuditEntry, _ names: [String: String]) {
        number = entry.number
        if case .token(let id)? = Owner(text: entry.entry.caller) { callerName = names[id] } else { callerName = nil }
        (at, caller, address) = (entry.entry.at, entry.entry.caller, entry.entry.address)
        (action, subject, detail) = (entry.entry.action, entry.entry.subject, entry.entry.detail)
    }
}
