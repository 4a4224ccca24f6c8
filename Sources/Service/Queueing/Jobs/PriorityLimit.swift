/// The highest priority that the owner of a token may give his jobs.
package struct PriorityLimit: Hashable, Sendable {
    package let highest: Priority

    package init(_ highest: Priority) { self.highest = highest }

    /// - Throws: ``PriorityRefusal`` for a priority above the limit.
    package func check(_ priority: Priority) throws(PriorityRefusal) {
        guard priority <= highest else { throw .tooHigh(priority, highest: highest) }
    }

    /// A job that runs next is before jobs of every priority, so the limit would have no effect.
    ///
    /// - Throws: ``PriorityRefusal`` if the action puts jobs before others.
    package func check(_ action: BulkAction) throws(PriorityRefusal) {
        switch action {
        case .runNext: throw .runNext(highest: highest)
        case .setPriority(let priority): try check(priority)
        case .hold, .release, .cancel, .retry, .setLabel: break
        }
    }

    /// The priority for a job whose priority the caller did not choose: a new one, or a retry of a job that an administrator has raised.
    package func lowered(_ priority: Priority) -> Priority { min(priority, highest) }
}

/// A request for a priority that the caller's token does not allow. Nothing has changed.
package enum PriorityRefusal: Error, Hashable, Sendable {
    case tooHigh(Priority, highest: Priority)
    case runNext(highest: Priority)

    /// One line that says what is wrong. Lines that begin with `   = ` follow, and say what to do.
    package var message: String {
        switch self {
        case .tooHigh(let priority, let highest):
            "priority: \(priority.value) is too high: this token allows at most \(highest.value)\n   = choose a priority from 0 to "
                + "\(highest.value), or ask an administrator to raise the limit ('penumbra token change')"
        case .runNext(let highest):
            "this token cannot let a job run next: it allows a priority of at most \(highest.value)\n   = raise the priority of the "
                + "job up to \(highest.value), or ask an administrator"
        }
    }
}
