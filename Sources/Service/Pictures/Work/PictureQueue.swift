package import Scheduling

/// Orders that wait for the worker, and the order that it carries out. The newest is the next one, because a person looks at it now.
///
/// One order of a picture waits at a time. Further clients join it. An order that no client waits for any more is dropped.
package struct PictureQueue: Sendable {
    /// A client that waits for one picture.
    package struct ClientID: Hashable, Sendable {
        package let number: Int

        package init(number: Int) { self.number = number }
    }

    private struct Entry: Sendable {
        let order: PictureOrder
        var clients: [ClientID]
    }

    /// The most orders that wait.
    package static let most = 32

    /// The oldest first.
    private var waiting: [Entry] = []
    private var activeEntry: Entry?
    private var broken = BrokenPictures()

    package init() {}

    /// - Throws: ``PictureError/full``, or the error that the file has caused shortly before.
    package mutating func add(_ order: PictureOrder, for client: ClientID, at now: Timestamp) throws(PictureError) {
        if let message = broken.message(of: order.source, at: now) { throw .broken(message) }
        if activeEntry?.order == order {
            activeEntry?.clients.append(client)
        } else if let index = waiting.firstIndex(where: { $0.order == order }) {
            // Somebody looks at it now, so it is the newest.
            var entry = waiting.remove(at: index)
            entry.clients.append(client)
            waiting.append(entry)
        } else {
            guard waiting.count < Self.most else { throw .full }
            waiting.append(Entry(order: order, clients: [client]))
        }
    }

    /// The client has gone. An order that a worker carries out goes on, because its picture is kept for others.
    package mutating func remove(_ client: ClientID) {
        activeEntry?.clients.removeAll { $0 == client }
        for index in waiting.indices { waiting[index].clients.removeAll { $0 == client } }
        waiting.removeAll { $0.clients.isEmpty }
    }

    /// The order that is the next one to be carried out.
    package var next: PictureOrder? { activeEntry == nil ? waiting.last?.order : nil }

    /// The order that the worker carries out.
    package var active: PictureOrder? { activeEntry?.order }

    /// Takes the order that ``next`` shows.
    package mutating func begin() -> PictureOrder? {
        guard activeEntry == nil, let entry = waiting.popLast() else { return nil }
        activeEntry = entry
        return entry.order
    }

    /// The active order has ended.
    ///
    /// - Returns: those who wait for it.
    package mutating func finish(_ error: PictureError?, at now: Timestamp) -> [ClientID] {
        guard let entry = activeEntry else { return [] }
        activeEntry = nil
        if case .broken(let message) = error { broken.add(entry.order.source, message, at: now) }
        return entry.clients
    }

    /// Drops the waiting orders for pictures of these runs' folders.
    ///
    /// - Returns: those who waited for them.
    package mutating func drop(roots: [String]?) -> [ClientID] {
        let dropped = waiting.filter { $0.order.source.roots == roots }
        waiting.removeAll { $0.order.source.roots == roots }
        return dropped.flatMap(\.clients)
    }

    package var count: Int { waiting.count }
}

/// Files that a worker could not decode, or that have ended a worker. For a while none of them is tried again.
package struct BrokenPictures: Sendable {
    /// A plugin or a library may be replaced meanwhile.
    package static let memory = Duration.seconds(600)
    package static let most = 256

    private struct Entry: Sendable {
        let source: PictureSource
        let message: String
        let end: Timestamp
    }

    /// The oldest first.
    private var entries: [Entry] = []

    package init() {}

    package mutating func add(_ source: PictureSource, _ message: String, at now: Timestamp) {
        entries.removeAll { $0.source == source || $0.end <= now }
        if entries.count >= Self.most { entries.removeFirst() }
        entries.append(Entry(source: source, message: message, end: now + Self.memory))
    }

    package func message(of source: PictureSource, at now: Timestamp) -> String? {
        entries.first { $0.source == source && now < $0.end }?.message
    }
}
