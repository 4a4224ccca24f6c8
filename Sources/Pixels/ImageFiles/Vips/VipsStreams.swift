import CVips
import Glibc

// libvips reads and writes through our own files, so that a failure of the disk is known by its number and not by
// libvips' words, what is decoded is the very file whose first bytes were looked at, and a file that shrinks while it
// is read is an error and no SIGBUS (libvips would map it).

extension VipsReference where Object == VipsSourceCustom {
    /// A source that reads `file` from its start, and holds it as long as it lives.
    static func reading(_ file: InputFile) throws(VipsFailure) -> VipsReference<VipsSourceCustom> {
        guard let source = VipsReference(adopting: vips_source_custom_new()) else { throw VipsFailure.take() }
        penumbra_source_connect(
            source.pointer,
            { _, bytes, count, context in
                let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))
                return gint64(Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue().read(into: buffer))
            },
            { _, offset, whence, context in
                let file = Unmanaged<InputFile>.fromOpaque(context).takeUnretainedValue()
                return gint64(file.seek(to: Int(offset), from: whence))
            },
            Unmanaged.passRetained(file).toOpaque(),
            { context, _ in context.map { Unmanaged<InputFile>.fromOpaque($0).release() } })
        return source
    }
}

extension VipsReference where Object == VipsTargetCustom {
    /// A target that writes to `stream`, and holds it as long as it lives.
    static func writing(to stream: EncodedStream) throws(VipsFailure) -> VipsReference<VipsTargetCustom> {
        guard let target = VipsReference(adopting: vips_target_custom_new()) else { throw VipsFailure.take() }
        penumbra_target_connect(
            target.pointer,
            { _, bytes, count, context in
                let stream = Unmanaged<EncodedStream>.fromOpaque(context).takeUnretainedValue()
                return stream.write(UnsafeRawBufferPointer(start: bytes, count: Int(count))) ? count : -1
            },
            { _, bytes, count, context in
                let stream = Unmanaged<EncodedStream>.fromOpaque(context).takeUnretainedValue()
                return gint64(stream.file.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: Int(count))))
            },
            { _, offset, whence, context in
                let stream = Unmanaged<EncodedStream>.fromOpaque(context).takeUnretainedValue()
                return gint64(stream.file.seek(to: Int(offset), from: whence))
            },
            Unmanaged.passRetained(stream).toOpaque(),
            { context, _ in context.map { Unmanaged<EncodedStream>.fromOpaque($0).release() } })
        return target
    }
}
