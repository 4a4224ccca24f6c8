import Catalogs
import Digests
import FileAccess
import Filters
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
        /// Nil if the output has the colours of the filters.
        let color: ColorConversion?
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
    /// What was measured of it for the first filters of the chains.
    let measured: [MeasuredFilters]
    let branches: [Branch]

    /// The clip whose frames are read. Nil for anything else, and if only its first frame is read.
    var clip: OpenedClip? {
        guard decoder.header.frames > 1 else { return nil }
        return decoder.clip.map { OpenedClip(clip: $0, file: decoder.file) }
    }

    /// The conversion from a chain's result to the samples of a branch's file.
    func conversion(_ branch: Branch, _ plan: ChainPlan) throws -> OutputConversion {
        OutputConversion(
            from: plan.outputLayout, decoder.header.sampleFormat, of: decoder.header.storedSamples,
            to: try branch.spec.imageFormat,
            save: branch.spec.save, color: branch.color)
    }
}

/// A clip, whose sound a video takes over.
struct OpenedClip {
    let clip: Clip
    let file: InputFile
}

extension TaskRunner {
    /// What becomes of a picture in HDR. For `mapTones` see ``open(_:_:for:mapTones:)``.
    private static func policy(of chains: [[FilterInvocation]], mapTones: Bool?) -> HDRPolicy {
        if mapTones ?? chains.allSatisfy(\.mapTones) { return .convert }
        if chains.contains(where: \.mapTones) { return .askForToneMap(.someOutputs) }
        return .askForToneMap(chains.contains(where: \.mapSomeTones) ? .partOfPicture : .noFilter)
    }

    /// Opens the input of a task, once for each way of decoding that its outputs need. Outputs that keep a profile need
    /// other colours than those without. Only some outputs hold animations, and filters compute some with finer samples
    /// than others. Nearly always one way suits all.
    ///
    /// - Parameter mapTones: whether a picture in HDR may be read. Nil if it may be where the filters of each output bring
    ///   its light into the range of a display.
    func open(
        _ input: InputSpec, _ invocations: [FilterInvocation], for outputs: [OutputSpec], mapTones: Bool? = nil
    ) throws -> [OpenedInput] {
        let hdr = Self.policy(of: outputs.map { invocations + $0.chain }, mapTones: mapTones)
        let measured = try measured(
            input, for: ProbeTask.measuredFilters(invocations, outputs), hdr: hdr)
        let asked = try decoder(input, input.color, hdr: hdr)
        let header = asked.header
        let invocations = invocations.filling(asked.metadata.value)
        let outputs = outputs.map {
            OutputSpec(chain: $0.chain.filling(asked.metadata.value), format: $0.format, save: $0.save)
        }
        var ways: [DecodingWay] = []
        for (index, output) in outputs.enumerated() {
            let format = try output.imageFormat
            try VipsRuntime.prepare(format)
            let filters = invocations + output.chain
            let whole = try chain(filters, for: input, measured.measurements(for: filters))
            let plan = whole.plan(input: header.rect, layout: header.layout)
            let color = format.colorPolicy(
                for: header, asked: input.color, save: output.save, output: plan.outputLayout)
            let frames = format.descriptor.holdsAnimation ? header.frames : 1
            let work = try FrameWork(header, whole, plan, to: format)
            let samples = ChainSamples.choice(
                output.save, stored: header.sampleFormat, held: format.descriptor.sampleFormats, work)
            guard !asked.isHDR || samples == .f32 else {
                throw TaskFailure(
                    .value,
                    "\(input.path): has HDR colours, whose light integers cannot hold; leave 'precision' out, or write "
                        + "'precision: float'")
            }
            let alike = ways.firstIndex { $0.color == color && $0.frames == frames && $0.samples == samples }
            if let alike {
                ways[alike].outputs.append(index)
            } else {
                ways.append(
                    DecodingWay(
                        color: color, frames: frames, samples: samples, hdr: hdr, outputs: [index]))
            }
        }
        return try ways.map { way in
            let isAsAsked =
                way.color == input.color && way.frames == header.frames && way.samples == header.sampleFormat
            let decoder = isAsAsked ? asked : try self.decoder(input, way)
            return try matched(decoder, input, way, invocations, outputs, measured)
        }
    }

    /// The properties that outputs with the same decoder share.
    struct DecodingWay {
        let color: ColorPolicy
        let frames: Int
        /// The samples that filters get.
        let samples: SampleFormat
        let hdr: HDRPolicy
        var outputs: [Int]
        var shrink = 1
    }

    private func matched(
        _ decoder: ImageDecoder, _ input: InputSpec, _ way: DecodingWay, _ invocations: [FilterInvocation],
        _ outputs: [OutputSpec], _ measured: [MeasuredFilters]
    ) throws -> OpenedInput {
        let shared = measured.measurements(for: invocations)
        let own = way.outputs.map {
            measured.measurements(for: invocations + outputs[$0].chain).dropFirst(shared.count)
        }
        let wholes = try zip(way.outputs, own).map { index, own in
            try chain(invocations + outputs[index].chain, for: input, shared + own)
        }
        let (width, height) = (decoder.header.width, decoder.header.height)
        var way = way
        // The largest picture that any output needs is large enough for all.
        let suitable = wholes.map { $0.shrinkOnLoad(width: width, height: height) }.min() ?? 1
        // A second rendering of an output decodes in the same way as the first, whatever other outputs there are now.
        way.shrink = min(input.shrink ?? suitable, decoder.header.largestShrink)
        let shrinking = way.shrink > 1 ? Shrinking(factor: way.shrink, width: width, height: height) : nil
        let delivering = shrinking == nil ? decoder : try self.decoder(input, way)
        let curve = delivering.curve
        let frame = try frame(of: input, decoder.header)
        let common = try chain(invocations, for: input, shared).over(curve).rendering(frame)
        let branches = try zip(way.outputs, zip(wholes, own)).map { index, filters in
            let (whole, measurements) = filters
            let own = try chain(outputs[index].chain, for: input, Array(measurements)).over(curve).rendering(frame)
            let layout = whole.plan(input: decoder.header.rect, layout: decoder.header.layout).outputLayout
            return OpenedInput.Branch(
                index: index, spec: outputs[index], own: common.isIdentity ? own.after(shrinking) : own,
                whole: whole.over(curve).rendering(frame).after(shrinking),
                color: try colorConversion(
                    from: delivering.metadata.icc?.bytes, of: layout, to: outputs[index], for: input.path),
                inputFrames: way.frames)
        }
        return OpenedInput(
            decoder: delivering, chain: common.after(shrinking), shrinking: shrinking, frame: frame,
            measured: measured, branches: branches)
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
        return try decoder(
            input, way.color, shrink: way.shrink, pages: pages, samples: way.samples, hdr: way.hdr)
    }
}

extension TaskRunner {
    /// The conversion of a chain's colours into those of an output. Nil if the output has the same.
    ///
    /// - Parameters:
    ///   - profile: The profile of the chain's colours. Nil for sRGB.
    ///   - input: The path of the input. Nil if it was opened with success before.
    func colorConversion(
        from profile: [UInt8]?, of layout: PixelLayout, to output: OutputSpec, for input: String? = nil
    ) throws -> ColorConversion? {
        guard let color = output.save.color else { return nil }
        func failure(_ reason: String) -> TaskFailure {
            TaskFailure(.value, (input.map { "\($0): " } ?? "") + "'color: \(color.words)' \(reason)")
        }
        let target: OutputProfile =
            switch color.space {
            case .named(let name): .named(name)
            case .profile(let reference):
                try toolbox.pictures.picture(reference, for: "'color'", opener, DecodeLimits(maxPixels: .max))
            }
        if let objection = try output.imageFormat.objection(to: target) { throw failure(objection) }
        let conversion: ColorConversion
        do throws(OutputProfile.Problem) {
            conversion = try ColorConversion(
                from: profile, of: layout, to: target, intent: color.intent, blackPoint: color.blackPoint)
        } catch {
            throw failure(error.description)
        }
        if conversion.needsIntegers, output.save.depth == .f32 {
            throw failure("gives integers, as all profiles of tables do; write 'depth: 16' instead of 'depth: float'")
        }
        return conversion
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
