/// Why the scheduler has a worker end.
package enum Dismissal: Hashable, Sendable {
    /// Its lease expired.
    case overdue
    /// It was not heard of for so long.
    case silent(Duration)
    /// It answered what does not fit its task; why, as a message goes on with it.
    case brokeProtocol(String)
    /// The run stops.
    case stopping
    /// A fresh process is wanted in its place. It is not killed but leaves by itself.
    case recycled
    /// Its slot is retired; as above.
    case retired

    /// A process that leaves by itself may be one that is stopped, and will not.
    var isKill: Bool {
        switch self {
        case .overdue, .silent, .brokeProtocol, .stopping: true
        case .recycled, .retired: false
        }
    }
}

extension Death {
    /// What the scheduler's own order comes to.
    func ordered(by dismissal: Dismissal?) -> Death {
        guard manner == .byOrder else { return self }
        return switch dismissal {
        case .silent(let limit): Death(.silent(limit), lastWords: lastWords)
        case .brokeProtocol(let what): Death(.brokeProtocol(what), lastWords: lastWords)
        case .overdue, .stopping, .recycled, .retired, nil: self
        }
    }
}
