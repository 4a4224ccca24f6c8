package import Queueing

/// Who changed what.
package struct AuditEntry: Hashable, Sendable {
    package let at: WallTime
    /// `uid:1000`, `token:x7`.
    package let caller: String
    /// From where. Nil for this machine.
    package let address: String?
    /// `cancel`, `token.revoke`.
    package let action: String
    /// `job 17`.
    package let subject: String
    package let detail: String

    package init(
        at time: WallTime, caller: String, address: String? = nil, action: String, subject: String, detail: String = ""
    ) {
        at = time
        self.caller = caller
        self.address = address
        self.action = action
        self.subject = subject
        self.detail = detail
    }
}

/// An entry with its number, which is a place in the list.
package struct NumberedAuditEntry: Hashable, Sendable {
    package let number: Int
    package let entry: AuditEntry
}
