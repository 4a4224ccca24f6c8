import Catalogs
import Digests
import FileAccess
import Glibc
import ImageFiles
import JobModel
import Rendering
import WorkerProtocol

/// An input as some outputs of a frame need it, with the chains for it. If the decoder has shrunk the picture, the
/// first filter is adapted.
struct OpenedInput {
    /// The chain of one output.
    struct Branch {
        /// The output's index in the frame.
        let index: Int
        let spec: OutputSpec
        /// The filters after the common chain.
        let own: Chain
        /// All filters from the decoder to the encoder.
        let whole: Chain
        /// The number of the input's frames.
        let inputFrames: Int
        /// The number of the output's frames: the input's, or those that the chain makes.
        var frames: Int { inputFrames * whole.frames }
    }

    let decoder: ImageDecoder
    /// The filters that the branches share.
    let chain: Chain
    let shrinking: Shrinking?
    /// The frame of the input's animation that is read alone, from 0. Nil for anything else.
    let frame: Int?
    let branches: [Branch]

    /// The conversion from a chain's result to the samples of a branch's file.
    func conversion(_ branch: Branch, _ plan: ChainPlan) throws -> OutputConversion {
        OutputConversion(
            from: plan.outputLayout, decoder.header.sampleFormat, of: decoder.header.storedSamples,
            to: try branch.spec.imageFormat,
            save: branch.spec.save)
    }
}

extension TaskRunner {
    /// Opens the input of a task, once for each way of decoding that its outputs need. Outputs that keep a profile need
    /// other colours than those without. Only some outputs hold animations, and filters compute some with finer samples
    /// than others. Nearly always one way suits all.
    func open(
        _ input: InputSpec, _ invocations: [FilterInvocation], for outputs: [OutputSpec]
    ) throws -> [OpenedInput] {
        let asked = try decoder(input, input.color)
        let header = asked.header
        var ways: [DecodingWay] = []
        for (index, output) in outputs.enumerated() {
            let format = try output.imageFormat
            try VipsRuntime.prepare(format)
            let whole = try chain(invocations + output.chain, for: input)
            let plan = whole.plan(input: header.rect, layout: header.layout)
            let color = format.colorPolicy(
                for: header, asked: input.color, save: output.save, output: plan.outputLayout)
            let frames = format.descriptor.holdsAnimation ? header.frames : 1
            let work = try FrameWork(header, whole, plan, to: format)
            let samples = ChainSamples.choice(output.save, stored: header.sampleFormat, work)
            let alike = ways.firstIndex { $0.color == color && $0.frames == frames && $0.samples == samples }
            if let alike {
                ways[alike].outputs.append(index)
            } else {
                ways.append(DecodingWay(color: color, frames: frames, samples: samples, outputs: [index]))
            }
        }
        return try ways.map { way in
            let isAsAsked =
                way.color == input.color && way.frames == header.frames && way.samples == header.sampleFormat
            let decoder = isAsAsked ? asked : try self.decoder(input, way)
            return try matched(decoder, input, way, invocations, outputs)
        }
    }

    /// The properties that outputs with the same decoder share.
    struct DecodingWay {
        let color: ColorPolicy
        let frames: Int
        /// The samples that filters get.
        let samples: SampleFormat
        var outputs: [Int]
        var shrink = 1
    }

    private func matched(
        _ decoder: ImageDecoder, _ input: InputSpec, _ way: DecodingWay, _ invocations: [FilterInvocation],
        _ outputs: [OutputSpec]
    ) throws -> OpenedInput {
        let wholes = try way.outputs.map { try chain(invocations + outputs[$0].chain, for: input) }
        let (width, height) = (decoder.header.width, decoder.header.height)
        var way = way
        // The largest picture that any output needs is large enough for all.
        let suitable =
            decoder.header.canShrink ? wholes.map { $0.shrinkOnLoad(width: width, height: height) }.min() ?? 1 : 1
        // A second rendering of an output decodes in the same way as the first, whatever other outputs there are now.
        way.shrink = decoder.header.canShrink ? input.shrink ?? suitable : 1
        let shrinking = way.shrink > 1 ? Shrinking(factor: way.shrink, width: width, height: height) : nil
        let delivering = shrinking == nil ? decoder : try self.decoder(input, way)
        let curve = delivering.curve
        let frame = try frame(of: input, decoder.header)
        let common = try chain(invocations, for: input).over(curve).rendering(frame)
        let branches = try zip(way.outputs, wholes).map { index, whole in
            let own = try chain(outputs[index].chain, for: input).over(curve).rendering(frame)
            return OpenedInput.Branch(
                index: index, spec: outputs[index], own: common.isIdentity ? own.after(shrinking) : own,
                whole: whole.over(curve).rendering(frame).after(shrinking), inputFrames: way.frames)
        }
        return OpenedInput(
            decoder: delivering, chain: common.after(shrinking), shrinking: shrinking, frame: frame,
            branches: branches)
    }

    /// A page of a format for animations is a frame. Pages of documents are pictures of their own.
    private func frame(of input: InputSpec, _ header: ImageHeader) throws -> Int? {
        guard case .page(let number) = input.pages,
            try ImageFormats.inTask(header.formatName).descriptor.holdsAnimation
        else { return nil }
        return number
    }

    private func decoder(_ input: InputSpec, _ way: DecodingWay) throws -> ImageDecoder {
        // In a still picture both are the same page.
        let pages = input.pages == .animation && way.frames == 1 ? .first : input.pages
        return try decoder(input, way.color, shrink: way.shrink, pages: pages, samples: way.samples)
    }
}

extension Chain {
    /// The chain for a frame of the input's animation. The same chain for nil.
    func rendering(_ frame: Int?) -> Chain { frame.map { rendering(frame: $0) } ?? self }

    /// The chain for an input that the decoder has shrunk.
    func after(_ shrinking: Shrinking?) -> Chain {
        guard let shrinking else { return self }
        return afterShrinking(by: shrinking.factor, width: shrinking.width, height: shrinking.height)
    }
}

/// An input that a task reads. It stays open, so that a replacement of the file at its path is detected afterwards.
final class SourceFile {
    /// For people.
    let path: String
    private let bytes: [UInt8]
    private let descriptor: Int32
    private let stamp: FileStamp
    private let isRegular: Bool

    /// - Throws: A failure of the input, with a decoder's words.
    init(_ path: String, bytes: [UInt8]?, openedBy opener: FileOpener) throws {
        self.path = path
        let bytes = bytes ?? Array(path.utf8)
        self.bytes = bytes + [0]
        do {
            // Without O_NONBLOCK a pipe would block here.
            descriptor = try opener.open(bytes, O_RDONLY | O_NONBLOCK).descriptor
        } catch {
            throw ImageFileError(path: path, opening: error.code)
        }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            let code = errno
            close(descriptor)
            throw ImageFileError(path: path, opening: code)
        }
        stamp = FileStamp(found)
        isRegular = found.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        // The number may belong to another file by now.
        if isOpen { close(descriptor) }
    }

    /// False if foreign code has closed the file.
    var isOpen: Bool {
        var found = stat()
        // A file that a server has lost is still open.
        guard fstat(descriptor, &found) == 0 else { return errno != EBADF }
        return FileStamp(found).identity == stamp.identity
    }

    /// A UTF-8 name by which this very file can be opened.
    var openName: String { "/proc/self/fd/\(descriptor)" }

    /// True if the path has another file now, or none, or if the file's stamp has changed.
    var hasChanged: Bool {
        var found = stat()
        guard Self.withCString(bytes, { stat($0, &found) }) == 0 else { return true }
        let now = FileStamp(found)
        return now.identity != stamp.identity || !now.isUntouched(since: stamp)
    }

    func isUntouched(since earlier: FileStamp) -> Bool { stamp.isUntouched(since: earlier) }

    /// Reads the whole file. A pipe or a device would never end.
    func facts() throws -> FileFacts {
        guard isRegular else { throw TaskFailure(.input, "\(path): is no regular file") }
        do throws(DigestFileError) {
            return FileFacts(stamp: trustedStamp, digest: try Digest(ofFileAt: openName))
        } catch {
            throw ImageFileError(path: path, reading: error.code)
        }
    }

    /// All bytes of a file of limited size.
    func contents(atMost limit: Int) throws -> [UInt8] {
        guard isRegular else { throw TaskFailure(.input, "\(path): is no regular file") }
        guard stamp.size <= limit else {
            throw TaskFailure(.limit, "\(path): has \(stamp.size) bytes; at most \(limit) are read")
        }
        var bytes = [UInt8](repeating: 0, count: Int(stamp.size))
        var count = 0
        while count < bytes.count {
            let found = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count, count)
            }
            guard found >= 0 || errno == EINTR else { throw ImageFileError(path: path, reading: errno) }
            if found == 0 { break }
            count += max(0, found)
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// A stamp that shows any later change.
    var trustedStamp: FileStamp { stamp.ifOlder(than: Self.clockGrain, now: Self.now) }

    /// Time stamps of file systems have steps of up to two seconds. Within a step a second change may not show.
    private static let clockGrain: Int64 = 2_000_000_000

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileStamp.nanoseconds(seconds: time.tv_sec, and: time.tv_nsec)
    }

    private static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                guard let start = chars.baseAddress else { preconditionFailure("a path has its end at least") }
                return body(start)
            }
        }
    }
}

extension FileStamp {
    /// The stamp. If it is too recent, its time is replaced by one that equals no other.
    fileprivate func ifOlder(than age: Int64, now: Int64) -> FileStamp {
        modified < now.subtractingReportingOverflow(age).partialValue
            ? self : FileStamp(device: device, inode: inode, size: size, modified: 0, changed: changed)
    }
}
