import Engines
import Foundation
import Glibc
import JobModel
import Testing
import WorkerProtocol

/// The limits of worker processes: how large they are, and that a process has them.
@Suite struct TaskLimitsTests {
    private static let gigabyte = 1 << 30
    private static let megabyte = 1 << 20
    private static let nothing = TaskSpec.compare(DigestTask(files: []))

    private static func frame(maxPixels: Int) -> TaskSpec {
        .frame(
            FrameTask(
                input: InputSpec(path: "/in.png", maxPixels: maxPixels, color: .keep), chain: [], outputs: [],
                tileMemory: 1, frameMemory: 1))
    }

    private static func probe(maxPixels: Int) -> TaskSpec {
        .probe(
            ProbeTask(
                input: InputSpec(path: "/in.png", maxPixels: maxPixels, color: .keep), chain: [], outputs: [],
                tile: .auto, tileMemory: 1, frameMemory: 1, digestsContent: false))
    }

    @Test func `a worker may have four times its share of memory, and never less than 4 GB`() {
        func memory(share: Int) -> Int? {
            TaskLimits(Self.nothing, pixelBytes: 0, readBytes: 0, share: share).memory
        }
        #expect(memory(share: 512 * Self.megabyte) == 4 * Self.gigabyte)
        #expect(memory(share: 3 * Self.gigabyte) == 12 * Self.gigabyte)
        #expect(memory(share: .max) == nil)
    }

    @Test func `several times the pixels of the task are added to its memory and to its files`() {
        let limits = TaskLimits(
            Self.frame(maxPixels: 1000), pixelBytes: 100 * Self.megabyte, readBytes: 7, share: Self.gigabyte)
        #expect(limits.memory == 4 * Self.gigabyte + 1600 * Self.megabyte)
        #expect(limits.fileSize == 64 * Self.megabyte + 400 * Self.megabyte + 7)
    }

    @Test
    func `before the probe, the memory fits the largest picture that is allowed, and an output may have any size`() {
        let limits = TaskLimits(Self.frame(maxPixels: 1_000_000), pixelBytes: nil, readBytes: 0, share: 0)
        #expect(limits.memory == 4 * Self.gigabyte + 256_000_000)
        #expect(limits.fileSize == nil)
    }

    @Test func `a task that renders only small pictures has their limits, whatever max_pixels allows`() {
        let spec = TaskSpec.frame(
            FrameTask(
                input: InputSpec(path: "/in.png", maxPixels: 1_000_000_000, color: .keep), chain: [], outputs: [],
                tileMemory: 1, frameMemory: 1,
                opening: FrameTask.Opening(tile: .auto, mostSeconds: 1)))
        let limits = TaskLimits(spec, pixelBytes: nil, readBytes: 5, share: 0)
        // Two million pixels of 16 bytes.
        #expect(limits.fileSize == 64 * Self.megabyte + 4 * 32_000_000 + 5)
        #expect(limits.memory == 4 * Self.gigabyte + 16 * 32_000_000)
    }

    @Test func `a probe writes no more than the largest picture that is allowed`() {
        let limits = TaskLimits(Self.probe(maxPixels: 1_000_000), pixelBytes: nil, readBytes: 5, share: 0)
        #expect(limits.fileSize == 64 * Self.megabyte + 64_000_000 + 5)
    }

    @Test func `what is too large for a number is not limited`() {
        let limits = TaskLimits(Self.nothing, pixelBytes: .max / 2, readBytes: .max, share: 0)
        #expect(limits.memory == nil)
        #expect(limits.fileSize == nil)
        #expect(TaskLimits(Self.probe(maxPixels: .max), pixelBytes: nil, readBytes: 0, share: 0).memory == nil)
    }

    /// A process that lives until its input ends.
    private func withProcess(_ body: (pid_t) throws -> Void) throws {
        let (process, input) = (Process(), Pipe())
        process.executableURL = URL(filePath: "/bin/cat")
        process.standardInput = input
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        defer {
            // The process is ended by its input. If that is closed already, it has ended.
            try? input.fileHandleForWriting.close()
            process.waitUntilExit()
        }
        try body(process.processIdentifier)
    }

    /// The soft and the hard limit of a process, as the kernel writes them.
    private func limit(_ name: String, of process: pid_t) throws -> [String] {
        let text = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix(name) })
        return line.dropFirst(name.count).split(separator: " ").prefix(2).map(String.init)
    }

    @Test func `a process has the limits of its latest task, and its hard limits stay`() throws {
        let pictures = [100, 300, 200].map { $0 * Self.megabyte }
        try withProcess { process in
            let hard = try (limit("Max data size", of: process)[1], limit("Max file size", of: process)[1])
            for pixelBytes in pictures {
                let limits = TaskLimits(Self.nothing, pixelBytes: pixelBytes, readBytes: 0, share: 0)
                #expect(limits.apply(to: process) == 0)
                #expect(try limit("Max data size", of: process) == ["\(4 * Self.gigabyte + 16 * pixelBytes)", hard.0])
                #expect(try limit("Max file size", of: process) == ["\(64 * Self.megabyte + 4 * pixelBytes)", hard.1])
            }
        }
    }

    @Test func `a task without a limit gives the process the limit of this one`() throws {
        try withProcess { process in
            let before = try limit("Max file size", of: process)
            #expect(TaskLimits(Self.nothing, pixelBytes: 0, readBytes: 0, share: 0).apply(to: process) == 0)
            #expect(try limit("Max file size", of: process) != before)
            let limits = TaskLimits(Self.frame(maxPixels: 1), pixelBytes: nil, readBytes: 0, share: 0)
            #expect(limits.apply(to: process) == 0)
            #expect(try limit("Max file size", of: process) == before)
        }
    }

    @Test func `a process that has ended cannot be limited`() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/true")
        try process.run()
        process.waitUntilExit()
        let limits = TaskLimits(Self.nothing, pixelBytes: 0, readBytes: 0, share: 0)
        #expect(limits.apply(to: process.processIdentifier) == ESRCH)
    }
}
