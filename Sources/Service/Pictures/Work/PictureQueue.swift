package import Scheduling

/// Orders that wait for the worker, and the order that it carries out.
///
/// Owners take turns, so that many orders of one owner delay each order of another one by one picture. Of an owner's orders, the newest
/// is the next one, because a person looks at it now.
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
        var clients: [ClientID: PictureOwner]

        func isWanted(by owner: PictureOwner) -> Bool { clients.values.contains(owner) }

        /// Whether nobody else waits for it.
        func isWantedOnly(by owner: PictureOwner) -> Bool { clients.values.allSatisfy { $0 == owner } }
    }

    /// The most orders that wait.
    package static let most = 32

    /// The oldest first.
    private var waiting: [Entry] = []
    private var activeEntry: Entry?
    private var turns = Turns()
    private var broken = BrokenPictures()

    package init() {}

    /// Adds an order. If the queue is full, the owner with the most orders loses the oldest of them.
    ///
    /// - Returns: the clients of the order that has lost its place.
    /// - Throws: the error that the order, or its file, has caused shortly before.
    package mutating func add(
        _ order: PictureOrder, for client: ClientID, of owner: PictureOwner, at now: Timestamp
    ) throws(PictureError) -> [ClientID] {
        if let message = broken.message(of: order, at: now) { throw .broken(message) }
        if activeEntry?.order == order {
            activeEntry?.clients[client] = owner
            return []
        }
        var entry = Entry(order: order, clients: [:])
        // Somebody looks at it now, so it becomes the newest.
        if let index = waiting.firstIndex(where: { $0.order == order }) { entry = waiting.remove(at: index) }
        entry.clients[client] = owner
        waiting.append(entry)
        return waiting.count > Self.most ? dropOne() : []
    }

    private mutating func dropOne() -> [ClientID] {
        var counts: [PictureOwner: Int] = [:]
        for entry in waiting { for owner in Set(entry.clients.values) { counts[owner, default: 0] += 1 } }
        let largest = counts.values.max() ?? 0
        // An order that another owner waits for, too, is spared.
        let index = waiting.firstIndex { entry in
            counts.contains { entry.isWantedOnly(by: $0.key) && $0.value == largest }
        }
        return waiting.remove(at: index ?? 0).clients.keys.sorted { $0.number < $1.number }
    }

    /// The client has gone. An order that a worker carries out goes on, because its picture is kept for others.
    package mutating func remove(_ client: ClientID) {
        activeEntry?.clients[client] = nil
        for index in waiting.indices { waiting[index].clients[client] = nil }
        waiting.removeAll { $0.clients.isEmpty }
    }

    /// The order that is the next one to be carried out.
    package var next: PictureOrder? { nextPlace.map { waiting[$0.index].order } }

    private var nextPlace: (index: Int, owner: PictureOwner)? {
        guard activeEntry == nil else { return nil }
        // The newest first, so that it is the first one of those who had no turn yet.
        var owners: [PictureOwner] = []
        for entry in waiting.reversed() {
            for owner in entry.clients.values where !owners.contains(owner) { owners.append(owner) }
        }
        guard let owner = turns.first(of: owners), let index = waiting.lastIndex(where: { $0.isWanted(by: owner) })
        else { return nil }
        return (index, owner)
    }

    /// The order that the worker carries out.
    package var active: PictureOrder? { activeEntry?.order }

    /// Takes the order that ``next`` shows.
    package mutating func begin() -> PictureOrder? {
        guard let (index, owner) = nextPlace else { return nil }
        turns.take(owner)
        let entry = waiting.remove(at: index)
        activeEntry = entry
        return entry.order
    }

    /// The active order has ended.
    ///
    /// - Returns: those who wait for it.
    package mutating func finish(_ fault: PictureFault?, at now: Timestamp) -> [ClientID] {
        guard let entry = activeEntry else { return [] }
        activeEntry = nil
        if let fault { broken.add(entry.order, fault, at: now) }
        return entry.clients.keys.sorted { $0.number < $1.number }
    }

    /// Drops the waiting orders for pictures of these runs' folders.
    ///
    /// - Returns: those who waited for them.
    package mutating func drop(roots: [String]?) -> [ClientID] {
        let dropped = waiting.filter { $0.order.source.roots == roots }
        waiting.removeAll { $0.order.source.roots == roots }
        return dropped.flatMap(\.clients.keys).sorted { $0.number < $1.number }
    }

    package var count: Int { waiting.count }
}

/// Who asks for pictures: a user of this machine, or a token. Owners share the worker equally.
package struct PictureOwner: Hashable, Sendable {
    package let name: String

    package init(_ name: String) { self.name = name }
}

/// Who had a picture made when. Owners without orders are remembered, too, so that asking for one picture after the other gains nothing.
private struct Turns: Sendable {
    /// More than orders can wait.
    private static let most = 64

    /// The latest turn last.
    private var past: [PictureOwner] = []

    mutating func take(_ owner: PictureOwner) {
        past.removeAll { $0 == owner }
        past.append(owner)
        if past.count > Self.most { past.removeFirst() }
    }

    /// The first owner that had no turn, or the one whose turn was the longest time ago.
    func first(of owners: [PictureOwner]) -> PictureOwner? {
        owners.first { !past.contains($0) } ?? past.first { owners.contains($0) }
    }
}
