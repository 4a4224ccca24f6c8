package import Scheduling
package import WorkerProtocol

/// Why an engine gave no answer.
package enum NoAnswer: Error, Sendable {
    case failed(TaskFailure)
    case died(Death)
    /// No worker can be had.
    case refused(StopReason)
    case interrupted(signal: Int32)
    case tookTooLong
}

private enum News: Sendable {
    case event(Event)
    case signal(Int32)
    case timeIsUp
}

extension Engine {
    /// Has a single task done, by the first worker that is ready.
    ///
    /// - Parameters:
    ///   - signals: the first one ends the worker.
    ///   - limit: for all of it, the start of the worker too.
    package func ask(
        _ spec: TaskSpec, signals: AsyncStream<Int32>, limit: Duration
    ) async throws(NoAnswer) -> TaskReceipt {
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (news, tell) = AsyncStream.makeStream(of: News.self)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.run(commands) { if $0.mayAnswer { tell.yield(.event($0)) } } }
            group.addTask { for await signal in signals { tell.yield(.signal(signal)) } }
            group.addTask {
                // Sleeping fails when the answer is there.
                if (try? await Task.sleep(for: limit)) != nil { tell.yield(.timeIsUp) }
            }
            defer {
                command.finish()
                group.cancelAll()
            }
            return await Self.answer(spec, news, command)
        }
        return try result.get()
    }

    private static func answer(
        _ spec: TaskSpec, _ news: AsyncStream<News>, _ command: AsyncStream<EngineCommand>.Continuation
    ) async -> Result<TaskReceipt, NoAnswer> {
        var worker: WorkerID?
        for await item in news {
            switch item {
            case .event(.workerReady(let ready)) where worker == nil:
                worker = ready
                let lease = Lease(
                    id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: ready,
                    deadline: Timestamp(.zero), timeLimit: .zero, spec: spec)
                command.yield(.start(lease))
            case .event(.report(let sender, .finished(_, let receipt))) where sender == worker:
                guard let objection = spec.objection(to: receipt) else { return .success(receipt) }
                command.yield(.kill(sender))
                return .failure(.died(Death(.brokeProtocol(objection))))
            case .event(.report(_, .failed(_, let failure))): return .failure(.failed(failure))
            case .event(.workerLost(_, let death)): return .failure(.died(death))
            case .event(.stop(let reason)): return .failure(.refused(reason))
            case .event: break
            case .signal(let signal):
                if let worker { command.yield(.kill(worker)) }
                return .failure(.interrupted(signal: signal))
            case .timeIsUp:
                if let worker { command.yield(.kill(worker)) }
                return .failure(.tookTooLong)
            }
        }
        return .failure(.tookTooLong)
    }
}

extension Event {
    /// False for events that a worker can cause in any number, and that answer nothing.
    fileprivate var mayAnswer: Bool {
        switch self {
        case .words, .report(_, .alive), .report(_, .inPlugins), .report(_, .worn): false
        default: true
        }
    }
}
