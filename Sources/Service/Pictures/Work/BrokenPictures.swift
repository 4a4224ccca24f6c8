package import Scheduling

/// Why an order should not be tried again soon. The texts are for the person who asked.
package enum PictureFault: Hashable, Sendable {
    /// This picture could not be made, or not in time. Another part or another size may be possible.
    case order(String)
    /// The header of the file cannot be read, so no picture can be made of it.
    case header(String)
    /// The worker crashed.
    case crash(String)
}

/// Orders that could not be carried out, and files of which no picture can be made. For a while none of them is tried again.
///
/// A file counts as broken if its header cannot be read, or if two different orders have crashed the worker.
package struct BrokenPictures: Sendable {
    /// A plugin or a library may be replaced meanwhile.
    package static let memory = Duration.seconds(600)
    package static let most = 256

    private struct Entry: Sendable {
        let order: PictureOrder
        let fault: PictureFault
        let concernsFile: Bool
        let end: Timestamp
    }

    /// The oldest first.
    private var entries: [Entry] = []

    package init() {}

    package mutating func add(_ order: PictureOrder, _ fault: PictureFault, at now: Timestamp) {
        entries.removeAll { $0.order == order || $0.end <= now }
        let concernsFile =
            switch fault {
            case .order: false
            case .header: true
            case .crash: entries.contains { $0.order.source == order.source && $0.fault.isCrash }
            }
        if entries.count >= Self.most { entries.removeFirst() }
        entries.append(Entry(order: order, fault: fault, concernsFile: concernsFile, end: now + Self.memory))
    }

    /// Why the order is not tried now. Nil if it is.
    package func message(of order: PictureOrder, at now: Timestamp) -> String? {
        entries.first { entry in
            let isMeant = entry.concernsFile ? entry.order.source == order.source : entry.order == order
            return isMeant && now < entry.end
        }?.fault.message
    }
}

extension PictureFault {
    fileprivate var isCrash: Bool { if case .crash = self { true } else { false } }

    package var message: String {
        switch self {
        case .order(let message), .header(let message), .crash(let message): message
        }
    }
}
