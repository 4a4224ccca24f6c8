import Catalogs
package import FileAccess
import Glibc
package import JobModel
package import Raster

/// The frames of a video, and how ffmpeg encodes them.
package struct VideoStream: Hashable, Sendable, Codable {
    /// The format's name in the catalog.
    package let format: String
    /// The size of its frames, which may be larger by one than that of the pictures.
    package let width: Int
    package let height: Int
    /// In thousandths of a frame a second.
    package let milliRate: Int
    package let quality: Int
    package let effort: Int
    /// The clip whose frames these are. Nil for other pictures.
    package let clip: ClipTrack?

    /// - Parameter shape: the shape of the pictures.
    /// - Parameter clip: the clip that they come from.
    /// - Throws: ``ImageFileError`` if a save option has an invalid value, or if the pictures are too large.
    package init(
        _ shape: ImageShape, _ timing: VideoTiming, format: any VideoFormat, save: SaveOptions, path: String,
        clip: Clip? = nil
    ) throws(ImageFileError) {
        let options = FormatOptions(save.values, of: format.descriptor)
        self.format = format.descriptor.name
        (width, height) = Self.size(of: shape, in: format)
        milliRate = timing.milliRate
        let largestSide = format.descriptor.largestSide
        guard max(width, height) <= largestSide else {
            throw ImageFileError(
                path: path,
                .tooLarge(format: format.title, width: shape.width, height: shape.height, largestSide: largestSide))
        }
        do throws(SaveError) {
            quality = try options.integer("quality")
            effort = try options.integer("effort")
            let keepsSound = try options.boolean("sound")
            self.clip = clip.map { ClipTrack($0, keepsSound: keepsSound) }
        } catch {
            guard case .option(let name) = error else { preconditionFailure("an option is all that was read") }
            throw ImageFileError(path: path, .option(format: format.title, name: name))
        }
    }

    /// The size of the frames of a video of these pictures.
    package static func size(of shape: ImageShape, in format: any VideoFormat) -> (width: Int, height: Int) {
        func even(_ side: Int) -> Int { format.isEven ? side + side % 2 : side }
        return (even(shape.width), even(shape.height))
    }

    /// The bytes of a frame for ffmpeg.
    package func bytes(of picture: AnyRaster) -> [UInt8] {
        guard case .u8(let raster) = picture else { preconditionFailure("a format with 8 bits gets 8 bits") }
        return VideoPlanes.bytes(of: raster, width: width, height: height)
    }

    /// The colours of all videos are in BT.709's matrix. They are those of sRGB, or those of the clip.
    private var colors: [String] {
        let (primaries, transfer) = (clip?.primaries ?? .bt709, clip?.transfer ?? .sRGB)
        return [
            "-color_range", "tv", "-colorspace", "bt709", "-color_primaries", primaries.rawValue, "-color_trc",
            transfer.rawValue,
        ]
    }

    /// ffmpeg's arguments. It reads frames from its standard input. Nil if no format has this name, or if a number is not possible.
    ///
    /// The same frames give the same bytes on every processor: there is one thread, and nothing contains a time or a version.
    ///
    /// - Parameters:
    ///   - file: the name of the file, which exists.
    ///   - source: the name of the clip, for its sound.
    package func arguments(to file: String, sound source: String = "") -> [String]? {
        guard let format = ImageFormats.named(format) as? any VideoFormat,
            width > 0, height > 0, max(width, height) <= format.descriptor.largestSide, milliRate > 0,
            clip?.isPossible(in: format) ?? true
        else { return nil }
        let rate = clip.map { "\($0.rate.frames)/\($0.rate.seconds)" } ?? "\(milliRate)/1000"
        let sound = clip?.sound(from: source) ?? (input: [], output: [])
        return [
            "-nostdin", "-nostats", "-xerror", "-y", "-fflags", "+bitexact", "-f", "rawvideo", "-pixel_format",
            "yuv420p",
        ]
            + ["-video_size", "\(width)x\(height)", "-framerate", rate] + colors
            + ["-i", "pipe:0"] + sound.input + ["-map_metadata", "-1"] + sound.output
            + format.arguments(quality: quality, effort: effort)
            + ["-threads", "1", "-flags:v", "+bitexact", "-fflags", "+bitexact"] + colors + ["file:\(file)"]
    }

    /// ffmpeg's arguments to decode all frames of a video to its standard output, as ``bytes(of:)`` has them.
    ///
    /// - Parameter file: the name of the file.
    package static func arguments(decoding file: String) -> [String] {
        ["-nostdin", "-nostats", "-xerror", "-threads", "1", "-i", "file:\(file)", "-map", "0:v:0", "-f", "rawvideo"]
            + ["-pix_fmt", "yuv420p", "-vsync", "passthrough", "pipe:1"]
    }
}

/// What a video takes over from the clip whose frames it has.
package struct ClipTrack: Hashable, Sendable, Codable {
    package let rate: FrameRate
    let container: Clip.Container
    let primaries: Clip.Primaries
    let transfer: Clip.Transfer
    package let sounds: [Clip.Sound]

    init(_ clip: Clip, keepsSound: Bool) {
        (rate, container) = (clip.timing.rate, clip.container)
        (primaries, transfer) = (clip.primaries, clip.transfer)
        sounds = keepsSound ? clip.sounds : []
    }

    /// A worker may have been taken over by a picture.
    fileprivate func isPossible(in format: any VideoFormat) -> Bool {
        rate.isUsual && sounds.count <= ClipQuestion.mostStreams
            && sounds.allSatisfy { (0...ClipQuestion.mostStreams).contains($0.stream) }
            && sounds.allSatisfy { format.soundCodecs.contains($0.codec) }
    }

    /// ffmpeg's arguments for the sound, which is copied. Its language is the only metadata that stays.
    ///
    /// ffmpeg reads sound faster than pictures are rendered. Without a limit for that, it orders both by their times alone, and the same
    /// pictures give the same bytes however fast they come.
    fileprivate func sound(from source: String) -> (input: [String], output: [String]) {
        guard !sounds.isEmpty else { return ([], []) }
        let input = [
            "-protocol_whitelist", "file,pipe", "-fflags", "+bitexact", "-f", container.rawValue, "-i",
            "file:\(source)",
        ]
        var output = ["-map", "0:v:0"]
        for sound in sounds { output += ["-map", "1:\(sound.stream)"] }
        for (number, sound) in sounds.enumerated() where sound.hasLanguage {
            output += ["-metadata:s:a:\(number)", "language=\(sound.language ?? "und")"]
        }
        return (
            input,
            output + [
                "-map_chapters", "-1", "-c:a", "copy", "-max_interleave_delta", "0", "-max_muxing_queue_size",
                "1000000",
                // ffmpeg counts FLAC in MP4 as an experiment, and MP3 of 8000 Hz as no standard. Players know both.
                "-strict", "-2",
            ]
        )
    }
}

extension Clip {
    /// Why a video in this format cannot hold the sound. Nil if it can.
    package func soundObjection(to format: any VideoFormat, save: SaveOptions) -> String? {
        let options = FormatOptions(save.values, of: format.descriptor)
        // ``VideoStream`` refuses wrong values.
        guard (try? options.boolean("sound")) ?? true,
            let sound = sounds.first(where: { !format.soundCodecs.contains($0.codec) })
        else { return nil }
        let name = String(decoding: sound.codec.utf8.prefix(40), as: UTF8.self)
        return "has sound in the codec '\(name)', which \(format.title) does not hold; it holds "
            + "\(format.soundCodecs.sorted().joined(separator: ", ")), and 'save: {sound: false}' leaves the sound out"
    }
}

extension ImageFormat {
    /// The format, if ffmpeg writes it.
    package var video: (any VideoFormat)? { self as? any VideoFormat }
}

extension ImageEncoder {
    /// Writes a video that ffmpeg has encoded. If anything fails, the file is removed.
    ///
    /// - Parameters:
    ///   - film: an open file with the video.
    ///   - opener: opens the file at `path`. A file that it was handed is not removed.
    /// - Throws: ``ImageFileError``, also if the video is cut off.
    package static func write(
        _ film: Int32, as format: any VideoFormat, to path: String, openedBy opener: FileOpener
    ) throws(ImageFileError) {
        func bytes(_ offset: Int, _ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return pread(film, &bytes, count, off_t(offset)) == count ? bytes : nil
        }
        var found = stat()
        guard fstat(film, &found) == 0, format.statedEnd(bytes) == Int(found.st_size) else {
            throw ImageFileError(
                path: path, .encoder(format: format.title, detail: "ffmpeg has not written the whole file"))
        }
        let file = try OutputFile(path: path, openedBy: opener)
        do throws(ImageFileError) {
            let size = Int(found.st_size)
            for offset in stride(from: 0, to: size, by: 1 << 20) {
                guard let part = bytes(offset, min(1 << 20, size - offset)) else {
                    throw ImageFileError(
                        path: path, .encoder(format: format.title, detail: "its memory cannot be read"))
                }
                guard part.withUnsafeBytes({ file.write($0) }) else { break }
            }
            try file.finish()
        } catch {
            file.discard()
            throw error
        }
    }
}
