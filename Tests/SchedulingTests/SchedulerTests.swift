import JobModel
import Scheduling
import Testing
import WorkerProtocol

@Suite struct SchedulerTests {
    @Test func `a frame is probed, rendered and published`() {
        var farm = Farm()
        farm.begin()
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.probe, .frame])
        #expect(farm.published == ["/jobs/out/1.png"])
        #expect(farm.finished == .some(nil))
    }

    @Test func `a tiled frame goes through canvas, tiles and stitch`() {
        var farm = Farm(.make(.make(shard: .tile)))
        farm.begin()
        farm.finishAll()
        let tiles = (0..<4).map { TaskKind.tile($0) }
        #expect(farm.leases.map(\.task.kind) == [.probe, .canvas] + tiles + [.stitch])
        #expect(farm.published.count == 1)
    }

    @Test func `no more frames are asked for than the window holds`() {
        var farm = Farm(.make(workers: 3, frames: 100))
        farm.send(.tick)
        #expect(farm.wanted == 6)
        farm.send(.tick)
        #expect(farm.wanted == 6)
    }

    @Test func `a late result of an expired lease is dropped`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let lease = try #require(farm.running.first)
        farm.send(.tick, at: .seconds(10))
        #expect(farm.killed == [lease.worker])
        farm.send(.report(lease.worker, .finished(lease.id, .probe(.make()))))
        #expect(farm.leases.count == 1)
        #expect(farm.outcomes.isEmpty)
    }

    @Test func `a task that hangs twice fails its frame by name`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        farm.send(.tick, at: .seconds(10))
        farm.die(try #require(farm.running.first), .byOrder, replacement: 2)
        farm.send(.tick, at: .seconds(11))
        farm.send(.tick, at: .seconds(21))
        farm.die(try #require(farm.running.first), .byOrder, replacement: 3)
        let expected = FrameFailure(
            .timeout, "no result within 10 s in 2 attempts; raise 'timeout' if it needs longer")
        #expect(farm.outcomes == [FrameID(1): .failed(expected)])
        #expect(farm.finished == .some(nil))
    }

    @Test func `broken data fails its frame at once and no other`() throws {
        var farm = Farm(.make(frames: 2))
        farm.begin(frames: 2)
        let lease = try #require(farm.running.first { $0.task.frame == FrameID(1) })
        farm.fail(lease, .data, "1.png: truncated")
        farm.finishAll()
        #expect(farm.outcomes[FrameID(1)] == .failed(FrameFailure(.data, "1.png: truncated")))
        #expect(farm.published == ["/jobs/out/2.png"])
        #expect(farm.leases.filter { $0.task.frame == FrameID(1) }.count == 1)
    }

    @Test(
        arguments: zip(
            [TaskFailure.Kind.data, .value, .input, .permission, .limit, .output],
            [FrameFailure.Cause.data, .value, .input, .permission, .limit, .output]))
    func `what another attempt would meet again fails its frame at once, by its own cause`(
        kind: TaskFailure.Kind, cause: FrameFailure.Cause
    ) throws {
        var farm = Farm()
        farm.begin(workers: 1)
        farm.fail(try #require(farm.running.first), kind, "1.png: no")
        #expect(farm.outcomes == [FrameID(1): .failed(FrameFailure(cause, "1.png: no"))])
        #expect(farm.leases.count == 1)
    }

    @Test(arguments: [Death.Manner.signal(6), .exited(3), .brokeProtocol("noise")])
    func `a crash inside a plugin is the plugin's fault, and named so`(manner: Death.Manner) throws {
        var farm = Farm(.make(.make(filters: ["picky"])))
        farm.begin(workers: 1)
        for replacement in [2, 3] {
            let lease = try #require(farm.running.first)
            farm.send(.report(lease.worker, .inPlugins(lease.id, ["picky"])))
            farm.die(lease, manner, replacement: replacement)
            farm.send(.tick, at: farm.now + .seconds(1))
        }
        guard case .failed(let failure) = farm.outcomes[FrameID(1)] else {
            Issue.record("the frame goes on")
            return
        }
        #expect(failure.cause == .plugin)
        #expect(failure.message.contains(" inside the plugin 'picky'"))
    }

    @Test func `a crash is retried on a fresh worker, and a second one quarantines the picture`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        farm.die(try #require(farm.running.first), .signal(11), replacement: 2)
        farm.send(.tick, at: .seconds(1))
        let second = try #require(farm.running.first)
        #expect(second.worker == WorkerID(2))
        #expect(second.attempt == 2)
        farm.die(second, .signal(11), replacement: 3)
        let expected = FrameFailure(
            .crash, "the worker crashed with signal 11 in 2 attempts; the picture is set aside")
        #expect(farm.outcomes == [FrameID(1): .failed(expected)])
    }

    @Test func `a worker that its sandbox ends is told with the system call`() throws {
        func message(_ lastWords: String) throws -> String? {
            var farm = Farm()
            farm.begin(workers: 1)
            farm.die(try #require(farm.running.first), .signal(31), replacement: 2, lastWords: lastWords)
            farm.send(.tick, at: .seconds(1))
            farm.die(try #require(farm.running.first), .signal(31), replacement: 3, lastWords: lastWords)
            guard case .failed(let failure) = farm.outcomes[FrameID(1)] else { return nil }
            #expect(failure.cause == .crash)
            return failure.message
        }
        let told = "the worker was stopped by its sandbox (execve) in 2 attempts; the picture is set aside"
        #expect(try message("penumbra-worker: the sandbox refused execve") == told)
        #expect(try message("a: b / penumbra-worker: the sandbox refused execve / and more") == told)
        // Any code may have written its words.
        #expect(
            try message("penumbra-worker: the sandbox refused \u{1b}[31m")
                == "the worker was stopped by its sandbox (SIGSYS) in 2 attempts; the picture is set aside; its last words: "
                + "penumbra-worker: the sandbox refused \u{1b}[31m")
        #expect(
            try message("")
                == "the worker was stopped by its sandbox (SIGSYS) in 2 attempts; the picture is set aside")
    }

    @Test func `a worker that ends at its limit of memory is told with the limit`() throws {
        func failure(_ lastWords: String) throws -> FrameFailure? {
            var farm = Farm()
            farm.begin(workers: 1)
            farm.die(try #require(farm.running.first), .signal(6), replacement: 2, lastWords: lastWords)
            farm.send(.tick, at: .seconds(1))
            farm.die(try #require(farm.running.first), .signal(6), replacement: 3, lastWords: lastWords)
            guard case .failed(let failure) = farm.outcomes[FrameID(1)] else { return nil }
            return failure
        }
        #expect(
            try failure("a: b / penumbra-worker: memory ran out at its limit, 4096 MB")
                == FrameFailure(
                    .outOfMemory,
                    "the worker needed more memory than the 4096 MB that the sandbox allows for this task, in 2 attempts; "
                        + "look at the picture; if it is sound, raise 'memory', or give fewer --workers"))
        // Any code may have written its words.
        #expect(
            try failure("penumbra-worker: memory ran out at its limit, a lot")
                == FrameFailure(
                    .crash,
                    "the worker crashed with signal 6 in 2 attempts; the picture is set aside; its last words: "
                        + "penumbra-worker: memory ran out at its limit, a lot"))
    }

    @Test func `engines learn the size of a picture when it is known`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let probe = try #require(farm.running.first)
        #expect(probe.pixelBytes == nil)
        farm.finish(probe)
        #expect(farm.running.first?.pixelBytes == ProbeReceipt.make().pixelBytes)
    }

    @Test func `a bare SIGKILL is retried at once, up to twenty times`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        for kill in 1...19 {
            farm.die(try #require(farm.running.first), .killed, replacement: kill + 1)
            #expect(farm.outcomes.isEmpty)
        }
        farm.die(try #require(farm.running.first), .killed, replacement: 99)
        let expected = FrameFailure(
            .killed,
            "the worker was killed from outside 20 times; look for what sends SIGKILL, an out-of-memory killer first of all"
        )
        #expect(farm.outcomes == [FrameID(1): .failed(expected)])
    }

    @Test func `three kills in a row inside one plugin are the plugin's fault, and named so`() throws {
        var farm = Farm(.make(.make(filters: ["picky"])))
        farm.begin(workers: 1)
        for kill in 1...3 {
            #expect(farm.outcomes.isEmpty)
            let lease = try #require(farm.running.first)
            farm.send(.report(lease.worker, .inPlugins(lease.id, ["picky"])))
            farm.die(lease, .killed, replacement: kill + 1)
        }
        let expected = FrameFailure(
            .plugin,
            "the worker was killed inside the plugin 'picky' 3 times in a row, and the picture is set aside; look for what "
                + "sends SIGKILL, the plugin first of all")
        #expect(farm.outcomes == [FrameID(1): .failed(expected)])
    }

    @Test func `kills at several moments are nobody's fault, whichever plugin runs`() throws {
        var farm = Farm(.make(.make(filters: ["picky", "invert"])))
        farm.begin(workers: 1)
        for (kill, plugin) in ["picky", "picky", nil, "picky", "picky", "invert", "picky", "picky"].enumerated() {
            let lease = try #require(farm.running.first)
            if let plugin { farm.send(.report(lease.worker, .inPlugins(lease.id, [plugin]))) }
            farm.die(lease, .killed, replacement: kill + 2)
        }
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `kills from outside do not count as crashes`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        farm.die(try #require(farm.running.first), .killed, replacement: 2)
        farm.die(try #require(farm.running.first), .signal(6), replacement: 3)
        farm.send(.tick, at: .seconds(1))
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `a plugin that faults on three pictures stops the job by name`() throws {
        var farm = Farm(.make(.make(filters: ["invert"]), frames: 5, time: .seconds(1e6)))
        farm.begin(workers: 1, frames: 5)
        for picture in 1...3 {
            for _ in 1...2 where farm.finished == nil {
                let lease = try farm.advance(to: .frame)
                farm.send(.report(lease.worker, .inPlugins(lease.id, ["invert"])))
                farm.die(lease, .signal(11), replacement: farm.leases.count + 100)
                farm.send(.tick, at: .seconds(Double(picture * 1000 + farm.leases.count)))
            }
        }
        #expect(farm.finished == .some(.pluginFault(plugin: "invert", pictures: 3)))
    }

    @Test func `a plugin that did what no plugin may do fails its picture, and three of them stop the job`() throws {
        var farm = Farm(.make(.make(filters: ["grain"]), frames: 5))
        farm.begin(workers: 1, frames: 5)
        for picture in 1...3 {
            let lease = try farm.advance(to: .frame)
            farm.fail(lease, .plugin("grain"), "grain: it wrote elsewhere")
            #expect(
                farm.outcomes[lease.task.frame] == .failed(FrameFailure(.plugin, "grain: it wrote elsewhere")))
            #expect(farm.finished == (picture < 3 ? nil : .some(.pluginFault(plugin: "grain", pictures: 3))))
        }
    }

    @Test func `a worker that is worn ends its task and is then replaced`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let lease = try #require(farm.running.first)
        farm.send(.report(lease.worker, .worn(lease.id)))
        #expect(farm.recycled.isEmpty)
        farm.finish(lease)
        #expect(farm.recycled == [lease.worker])
        // It exits by itself, and another takes its slot.
        farm.send(.workerLost(lease.worker, Death(.exited(0))))
        farm.send(.workerReady(WorkerID(2)))
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `a full disk stops the job and leaves every other frame undone`() throws {
        var farm = Farm(.make(frames: 3))
        farm.begin(workers: 2, frames: 3)
        let lease = try #require(farm.running.first)
        let other = try #require(farm.running.last)
        farm.fail(lease, .storage, "/out: no space left on device")
        #expect(farm.killed == [other.worker])
        #expect(farm.finished == nil)
        farm.die(other, .byOrder)
        #expect(farm.finished == .some(.storage("/out: no space left on device")))
        #expect(farm.outcomes == [FrameID(1): .left, FrameID(2): .left, FrameID(3): .left])
    }

    @Test func `an interrupted run kills its workers and publishes nothing more`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let lease = try #require(farm.running.first)
        farm.send(.stop(.interrupted(signal: 2)))
        #expect(farm.killed == [lease.worker])
        farm.die(lease, .byOrder)
        #expect(farm.outcomes == [FrameID(1): .left])
        #expect(farm.finished == .some(.interrupted(signal: 2)))
    }

    @Test func `a damaged tile is rendered again and stitched again`() throws {
        var farm = Farm(.make(.make(shard: .tile)))
        farm.begin(workers: 1)
        farm.fail(try farm.advance(to: .stitch), .damagedTile(index: 2))
        #expect(farm.running.map(\.task.kind) == [.tile(2)])
        #expect(farm.running.first?.attempt == 2)
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `a tile that stays damaged fails the frame and is never published`() throws {
        var farm = Farm(.make(.make(shard: .tile, retries: 1)))
        farm.begin(workers: 1)
        for _ in 1...2 { farm.fail(try farm.advance(to: .stitch), .damagedTile(index: 2), "tile 2 differs") }
        #expect(farm.outcomes == [FrameID(1): .failed(FrameFailure(.verification, "tile 2 differs"))])
        #expect(farm.published.isEmpty)
    }

    @Test func `workers that never start stop the run with the engine's message`() {
        var farm = Farm(.make(workers: 1))
        farm.send(.tick)
        farm.offer([.make(1)])
        for number in 1...3 { farm.send(.workerLost(WorkerID(number), Death(.failedToStart("no such file")))) }
        #expect(farm.finished == .some(.engine("no such file")))
    }

    @Test func `workers killed while they start are replaced, but not for ever`() {
        var farm = Farm(.make(workers: 1))
        farm.send(.tick)
        farm.offer([.make(1)])
        for number in 1...99 { farm.send(.workerLost(WorkerID(number), Death(.killed))) }
        #expect(farm.finished == nil)
        farm.send(.workerLost(WorkerID(100), Death(.killed)))
        #expect(
            farm.finished
                == .some(.engine("every worker is killed before it is ready; is there memory enough for one?")))
    }

    @Test(arguments: [Death.Manner.brokeProtocol("noise"), .signal(11), .exited(1)])
    func `workers that end before they are ready stop the run, however they end`(manner: Death.Manner) {
        var farm = Farm(.make(workers: 1))
        farm.send(.tick)
        farm.offer([.make(1)])
        for number in 1...3 { farm.send(.workerLost(WorkerID(number), Death(manner))) }
        guard case .some(.some(.engine)) = farm.finished else {
            Issue.record("the run goes on")
            return
        }
    }

    @Test func `a stop concludes a frame whose only lease is of an earlier round`() throws {
        var farm = Farm(.make(.make(shard: .tile), workers: 2))
        farm.begin(workers: 2)
        let tile = try farm.advance(to: .tile(0))
        let other = try #require(farm.running.first { $0.id != tile.id })
        farm.fail(tile, .damagedCanvas)
        farm.send(.stop(.interrupted(signal: 15)))
        for lease in farm.running where lease.id != other.id { farm.die(lease, .byOrder) }
        farm.die(other, .byOrder)
        #expect(farm.outcomes == [FrameID(1): .left])
        #expect(farm.finished == .some(.interrupted(signal: 15)))
    }

    @Test func `attempts write to different temporary files`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let first = try farm.advance(to: .frame)
        farm.die(first, .signal(11), replacement: 2)
        farm.send(.tick, at: .seconds(1))
        let second = try #require(farm.running.first)
        guard case .frame(let a) = first.spec, case .frame(let b) = second.spec else {
            Issue.record("both are frame tasks")
            return
        }
        #expect(a.outputs.map(\.temporaryPath) == ["/jobs/out/.penumbra-run-1-frame-1.1"])
        #expect(b.outputs.map(\.temporaryPath) == ["/jobs/out/.penumbra-run-1-frame-1.2"])
    }

    @Test func `only one frame at a time fills a canvas or renders tiles`() throws {
        var farm = Farm(.make(.make(shard: .tile), frames: 3))
        farm.begin(workers: 4, frames: 3)
        while let lease = farm.running.first {
            let busy = Set(
                farm.running.filter { lease in
                    switch lease.task.kind {
                    case .canvas, .tile: true
                    case .compare, .probe, .frame, .stitch, .audit, .check: false
                    }
                }.map(\.task.frame))
            #expect(busy.count <= 1)
            farm.finish(lease)
        }
        #expect(farm.published.count == 3)
    }

    @Test func `no further frame fills a canvas while tiles of ended frames wait to be removed`() throws {
        var farm = Farm(.make(.make(shard: .tile), frames: 2))
        farm.begin(workers: 1, frames: 2)
        // The first frame's canvas is begun before, and is tiled.
        _ = try farm.advance(to: .canvas)
        farm.send(.holdTiling(true))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind).count { $0 == .canvas } == 1)
        #expect(farm.outcomes.count == 1)
        #expect(farm.scheduler.contradictions.isEmpty)
        farm.send(.holdTiling(false))
        farm.finishAll()
        #expect(farm.published.count == 2)
    }

    @Test func `a survey ends with the probe`() {
        var farm = Farm()
        farm.begin(frames: 0)
        var survey = Farm()
        survey.send(.tick)
        survey.send(.workerReady(WorkerID(1)))
        survey.offer([.make(1, goal: .survey)])
        survey.finishAll()
        #expect(survey.outcomes == [FrameID(1): .surveyed(.make())])
        #expect(survey.published.isEmpty)
    }
}
