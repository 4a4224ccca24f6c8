package import Queueing

/// The body of `PATCH /jobs/{id}`. Nil leaves a value as it is.
package struct JobChange: Hashable, Sendable {
    package var priority: Priority?
    package var isHeld: Bool?
    /// Labels to set. A nil removes the label. Other labels stay.
    package var labels: [String: String?]
    /// All jobs that it is to need from now on.
    package var after: [Need]?

    package init(
        priority: Priority? = nil, isHeld: Bool? = nil, labels: [String: String?] = [:], after: [Need]? = nil
    ) {
        self.priority = priority
        self.isHeld = isHeld
        self.labels = labels
        self.after = after
    }

    /// A job's labels after the change.
    package func labels(from old: Labels) throws(InputError) -> Labels {
        var result = old
        // Removed first, so that a full list can be exchanged. Sorted, so that the same change always gives the same
        // message.
        for (name, value) in labels.sorted(by: { $0.key < $1.key }) where value == nil { try result.set(name, to: nil) }
        for (name, value) in labels.sorted(by: { $0.key < $1.key }) where value != nil {
            try result.set(name, to: value)
        }
        return result
    }
}

/// `{"priority": 70, "hold": false, "labels": {"show": "night", "old": null}, "after": [12]}`
extension JobChange: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case priority
        case isHeld = "hold"
        case labels, after
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        priority = try values.optional(.priority)
        isHeld = try values.optional(.isHeld)
        labels = try values.optional(.labels) ?? [:]
        after = try values.optional(.after, as: [RequestedNeed].self)?.map(\.need)
        if let after, after.count > Submission.mostNeeds {
            throw values.fault(.after, "at most \(Submission.mostNeeds) jobs are allowed, and there are \(after.count)")
        }
        // Wrong labels are refused here, and not only if the job exists.
        _ = try Labels(labels.compactMapValues { $0 })
        guard priority != nil || isHeld != nil || !labels.isEmpty || after != nil else {
            throw BodyError(.refused("the request changes nothing\n   = name priority, hold, labels or after"))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encodeIfPresent(priority, forKey: .priority)
        try values.encodeIfPresent(isHeld, forKey: .isHeld)
        if !labels.isEmpty { try values.encode(labels, forKey: .labels) }
        try values.encodeIfPresent(after, forKey: .after)
    }
}
