/// States are stored, as one flat object: `{"state": "starting", "run": "…", "since": "…", "tries": 1}`.
extension JobState: Codable {
    private enum CodingKeys: String, CodingKey {
        case state, since, run, tries, setback, waited, resumes, pause, code, text, by, because, started, kept
        case keptByReason = "kept_by_reason"
        case stillBroken = "still_broken"
        case isResumed = "resumed"
        case cancelledBy = "cancelled_by"
        case isDelayed = "delayed"
        case isStopping = "stopping"
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .state)
        switch self {
        case .held(let waiting), .waiting(let waiting):
            try values.encode(waiting.since, forKey: .since)
            try values.encodeIfPresent(waiting.resumes, forKey: .resumes)
            try values.encodeIfPresent(waiting.pause, forKey: .pause)
            try Self.encode(waiting.history, into: &values)
        case .starting(let starting):
            try values.encode(starting.since, forKey: .since)
            try values.encode(starting.run, forKey: .run)
            try values.encode(starting.isResumed, forKey: .isResumed)
            try Self.encode(starting.history, into: &values)
        case .running(let running):
            try values.encode(running.since, forKey: .since)
            try values.encode(running.run, forKey: .run)
            try Self.encode(running.history, into: &values)
        case .ended(let ended):
            try values.encode(ended.time, forKey: .since)
            try values.encodeIfPresent(ended.run, forKey: .run)
            try values.encode(ended.tries, forKey: .tries)
            if ended.wasDelayed { try values.encode(true, forKey: .isDelayed) }
            try values.encodeIfPresent(ended.started, forKey: .started)
            let leftovers = ended.leftovers
            if leftovers.kept > 0 { try values.encode(leftovers.kept, forKey: .kept) }
            if !leftovers.keptByReason.isEmpty { try values.encode(leftovers.keptByReason, forKey: .keptByReason) }
            if leftovers.stillBroken > 0 { try values.encode(leftovers.stillBroken, forKey: .stillBroken) }
            switch ended.end {
            case .done, .doneWithWorkLeft: break
            case .failed(let code, let text):
                try values.encode(code, forKey: .code)
                try values.encode(text, forKey: .text)
            case .stopped(let text): try values.encode(text, forKey: .text)
            case .cancelled(let owner): try values.encodeIfPresent(owner, forKey: .by)
            case .skipped(let cause): try values.encode(cause, forKey: .because)
            }
        }
        switch request {
        case .cancel(let owner): try values.encode(owner, forKey: .cancelledBy)
        case .stop: try values.encode(true, forKey: .isStopping)
        case nil: break
        }
    }

    private static func encode(
        _ history: History, into values: inout KeyedEncodingContainer<CodingKeys>
    ) throws {
        try values.encode(history.tries, forKey: .tries)
        try values.encodeIfPresent(history.setback, forKey: .setback)
        let waited = history.waited.clampedMilliseconds
        if waited > 0 { try values.encode(waited, forKey: .waited) }
        if history.isDelayed { try values.encode(true, forKey: .isDelayed) }
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let since = try values.decode(WallTime.self, forKey: .since)
        var history = History()
        history.tries = try values.decode(Int.self, forKey: .tries)
        history.setback = try values.decodeIfPresent(Setback.self, forKey: .setback)
        history.waited = .milliseconds(try values.decodeIfPresent(Int64.self, forKey: .waited) ?? 0)
        history.isDelayed = try values.decodeIfPresent(Bool.self, forKey: .isDelayed) ?? false
        var request: Request?
        if let owner = try values.decodeIfPresent(Owner.self, forKey: .cancelledBy) {
            request = .cancel(by: owner)
        } else if try values.decodeIfPresent(Bool.self, forKey: .isStopping) ?? false {
            request = .stop
        }
        func waiting() throws -> Waiting {
            Waiting(
                history: history, since: since, resumes: try values.decodeIfPresent(String.self, forKey: .resumes),
                pause: try values.decodeIfPresent(Pause.self, forKey: .pause))
        }
        func ended(_ end: End) throws -> JobState {
            .ended(
                Ended(
                    end: end, time: since, run: try values.decodeIfPresent(String.self, forKey: .run),
                    tries: history.tries, wasDelayed: history.isDelayed,
                    started: try values.decodeIfPresent(WallTime.self, forKey: .started),
                    leftovers: Leftovers(
                        kept: try values.decodeIfPresent(Int.self, forKey: .kept) ?? 0,
                        by: try values.decodeIfPresent([String: Int].self, forKey: .keptByReason) ?? [:],
                        stillBroken: try values.decodeIfPresent(Int.self, forKey: .stillBroken) ?? 0)))
        }
        func text() throws -> String { try values.decode(String.self, forKey: .text) }
        switch try values.decode(Name.self, forKey: .state) {
        case .held: self = .held(try waiting())
        case .waiting: self = .waiting(try waiting())
        case .starting:
            self = .starting(
                Starting(
                    run: try values.decode(String.self, forKey: .run),
                    isResumed: try values.decode(Bool.self, forKey: .isResumed), history: history, since: since,
                    request: request))
        case .running:
            self = .running(
                Running(
                    run: try values.decode(String.self, forKey: .run), history: history, since: since, request: request)
            )
        case .done: self = try ended(.done)
        case .workLeft: self = try ended(.doneWithWorkLeft)
        case .failed: self = try ended(.failed(code: try values.decode(Int.self, forKey: .code), text: try text()))
        case .stopped: self = try ended(.stopped(text: try text()))
        case .cancelled: self = try ended(.cancelled(by: try values.decodeIfPresent(Owner.self, forKey: .by)))
        case .skipped: self = try ended(.skipped(because: try values.decode(JobID.self, forKey: .because)))
        }
    }
}
