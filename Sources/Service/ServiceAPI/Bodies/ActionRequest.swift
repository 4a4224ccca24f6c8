package import Queueing

/// The body of `POST /jobs/actions`: a change of all jobs that a filter matches.
package struct ActionRequest: Hashable, Sendable {
    package let action: BulkAction
    package let filter: JobFilter
    /// How many jobs have to match. Nil asks only how many there are.
    package let expected: Int?

    package init(_ action: BulkAction, _ filter: JobFilter, expecting expected: Int?) {
        self.action = action
        self.filter = filter
        self.expected = expected
    }
}

/// `{"action": "set_priority", "priority": 70, "filter": "state=waiting&label=show=night", "expect": 12}`
extension ActionRequest: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case action, filter
        case expected = "expect"
        case priority, label, value
    }

    private enum Name: String, CaseIterable {
        case hold, release, cancel
        case runNext = "run_next"
        case retry
        case setPriority = "set_priority"
        case setLabel = "set_label"

        var ownKeys: [CodingKeys] {
            switch self {
            case .hold, .release, .cancel, .runNext, .retry: []
            case .setPriority: [.priority]
            case .setLabel: [.label, .value]
            }
        }
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.request(keyedBy: CodingKeys.self)
        let text = try values.decode(String.self, forKey: .action)
        guard let name = Name(rawValue: text) else {
            throw values.fault(
                .action,
                "there is no action '\(BodyError.shown(text))'\n   = the actions are "
                    + Name.allCases.map(\.rawValue).joined(separator: ", "))
        }
        for key in [CodingKeys.priority, .label, .value] where values.contains(key) && !name.ownKeys.contains(key) {
            throw values.fault(key, "it does not belong to the action '\(name.rawValue)'")
        }
        switch name {
        case .hold: action = .hold
        case .release: action = .release
        case .cancel: action = .cancel
        case .runNext: action = .runNext
        case .retry: action = .retry
        case .setPriority: action = .setPriority(try values.decode(Priority.self, forKey: .priority))
        case .setLabel:
            let label = try values.decode(String.self, forKey: .label)
            // A value that was only forgotten must not remove labels.
            let value = try values.decode(String?.self, forKey: .value)
            _ = try Labels([label: value ?? ""])
            action = .setLabel(label, value)
        }
        // An empty filter matches all jobs. It has to be there, so that nobody means them by mistake.
        filter = try JobFilter(text: try values.decode(String.self, forKey: .filter))
        expected = try values.optional(.expected)
        if let expected, expected < 0 { throw values.fault(.expected, "\(expected) is no number of jobs") }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let name: Name
        switch action {
        case .hold: name = .hold
        case .release: name = .release
        case .cancel: name = .cancel
        case .runNext: name = .runNext
        case .retry: name = .retry
        case .setPriority(let priority):
            name = .setPriority
            try values.encode(priority, forKey: .priority)
        case .setLabel(let label, let value):
            name = .setLabel
            try values.encode(label, forKey: .label)
            try values.encode(value, forKey: .value)
        }
        try values.encode(name.rawValue, forKey: .action)
        try values.encode(filter.text, forKey: .filter)
        try values.encodeIfPresent(expected, forKey: .expected)
    }
}

/// The answer to `POST /jobs/actions`.
package enum ActionResponse: Hashable, Sendable {
    /// So many jobs match. Nothing was changed.
    ///
    /// - Parameter possible: How many of them the action can change. Nil for all.
    case count(Int, possible: Int? = nil)
    case done(Changes)

    package struct Changes: Hashable, Sendable {
        package let changed: [JobID]
        /// New jobs: the retries.
        package let submitted: [JobID]
        package let refused: [RefusedJob]

        package init(changed: [JobID], submitted: [JobID], refused: [RefusedJob]) {
            self.changed = changed
            self.submitted = submitted
            self.refused = refused
        }
    }

    /// A job that was not changed, and why.
    package struct RefusedJob: Hashable, Sendable, Codable {
        package let job: JobID
        package let reason: Explanation

        package init(_ refusal: Refusal) {
            job = refusal.job
            reason = Explanation(message: refusal.message)
        }

        private enum CodingKeys: String, CodingKey { case job, detail, remedy }

        package init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            job = try values.decode(JobID.self, forKey: .job)
            reason = Explanation(
                try values.decode(String.self, forKey: .detail),
                remedy: try values.decodeIfPresent(String.self, forKey: .remedy))
        }

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(job, forKey: .job)
            try values.encode(reason.summary, forKey: .detail)
            try values.encodeIfPresent(reason.remedy, forKey: .remedy)
        }
    }

    package init(_ outcome: BulkAction.Outcome) {
        switch outcome {
        case .count(let count, let possible): self = .count(count, possible: possible)
        case .done(let changes):
            self = .done(
                Changes(
                    changed: changes.changed.map(\.id), submitted: changes.submitted.map(\.id),
                    refused: changes.refused.map(RefusedJob.init)))
        }
    }
}

/// `{"count": 12}`, with `"possible": 3` if some cannot be changed, or `{"changed": [3], "submitted": [], "refused": [{"job": 5, "detail": "job 5 has ended: done"}]}`
extension ActionResponse: Codable {
    private enum CodingKeys: String, CodingKey { case count, possible, changed, submitted, refused }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        if let count = try values.decodeIfPresent(Int.self, forKey: .count) {
            self = .count(count, possible: try values.decodeIfPresent(Int.self, forKey: .possible))
            return
        }
        self = .done(
            Changes(
                changed: try values.decode([JobID].self, forKey: .changed),
                submitted: try values.decode([JobID].self, forKey: .submitted),
                refused: try values.decode([RefusedJob].self, forKey: .refused)))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .count(let count, let possible):
            try values.encode(count, forKey: .count)
            try values.encodeIfPresent(possible, forKey: .possible)
        case .done(let changes):
            try values.encode(changes.changed, forKey: .changed)
            try values.encode(changes.submitted, forKey: .submitted)
            try values.encode(changes.refused, forKey: .refused)
        }
    }
}
