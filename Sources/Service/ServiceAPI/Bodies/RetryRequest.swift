package import Queueing

/// The body of a retry, which may be left out.
package struct RetryRequest: Hashable, Sendable {
    package let deadline: RetryDeadline

    package init(deadline: RetryDeadline = .kept) { self.deadline = deadline }
}

/// `{"deadline": 3600}`, or `{"deadline": null}` for no deadline.
extension RetryRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case deadline }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        guard values.contains(.deadline) else {
            self.init()
            return
        }
        let seconds = try values.decode(Int?.self, forKey: .deadline)
        // The same limits as for a new job.
        _ = try RunOptions(deadline: seconds)
        self.init(deadline: seconds.map(RetryDeadline.seconds) ?? RetryDeadline.none)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch deadline {
        case .kept: break
        case .none: try values.encodeNil(forKey: .deadline)
        case .seconds(let seconds): try values.encode(seconds, forKey: .deadline)
        }
    }
}
