// Faults that a sanitizer has to find, and correct code in which it has to find nothing. `Scripts/test-sanitized` runs it before
// the tests, so that a sanitizer that is blind is noticed.
import Foundation
import Synchronization

actor Sum {
    var values: [Int] = []

    func add(_ value: [Int]) { values += value }
}

nonisolated(unsafe) var count = 0
let guarded = Mutex(0)
let isResumed = Atomic(false)
let rounds = 2_000

/// Runs a closure on four threads at once.
func onThreads(_ work: @escaping @Sendable () -> Void) {
    let group = DispatchGroup()
    for _ in 0..<4 {
        group.enter()
        Thread {
            work()
            group.leave()
        }.start()
    }
    group.wait()
}

switch CommandLine.arguments.dropFirst().first {
case "race":
    onThreads { for _ in 0..<rounds { count += 1 } }
    print(count)
case "lock":
    onThreads { for _ in 0..<rounds { guarded.withLock { $0 += 1 } } }
    print(guarded.withLock { $0 })
case "copies":
    let words = Mutex([0])
    onThreads {
        for round in 0..<rounds {
            if round % 2 == 0 { words.withLock { $0.append(round) } }
            let copy = words.withLock { $0 }
            precondition(copy.reduce(0, &+) >= 0)
        }
    }
    print(words.withLock { $0.count })
case "tasks":
    let sum = Sum()
    await withTaskGroup(of: [Int].self) { tasks in
        for number in 0..<rounds {
            tasks.addTask {
                await sum.add([number])
                return [number]
            }
        }
        for await one in tasks { await sum.add(one) }
    }
    let (stream, continuation) = AsyncStream.makeStream(of: [Int].self)
    let reader = Task { await stream.reduce(0) { @Sendable in $0 + $1.count } }
    for number in 0..<rounds { continuation.yield([number, number]) }
    continuation.finish()
    print(await sum.values.count, await reader.value)
case "continuations":
    // Half of them are resumed before the task waits, and half of them afterwards.
    var sum = 0
    for round in 0..<200 {
        let answer = await withCheckedContinuation { continuation in
            isResumed.store(round % 2 == 0, ordering: .relaxed)
            Thread {
                continuation.resume(returning: [round, round])
                isResumed.store(true, ordering: .relaxed)
            }.start()
            // A relaxed order tells ThreadSanitizer nothing of the order of the threads.
            while !isResumed.load(ordering: .relaxed) {}
        }
        sum += answer.count
    }
    print(sum)
case "overflow":
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: CommandLine.arguments.count * 8)
    memory.initialize(repeating: 1, count: 16)
    print((0...16).reduce(0) { $0 + Int(memory[$1]) })
    memory.deallocate()
case "within":
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: CommandLine.arguments.count * 8)
    memory.initialize(repeating: 1, count: 16)
    print((0..<16).reduce(0) { $0 + Int(memory[$1]) })
    memory.deallocate()
default:
    print("usage: planted race|lock|copies|tasks|continuations|overflow|within")
    exit(64)
}
