import CPenumbraPlugin
import Geometry

extension ContractCheck {
    static let arithmetic = ContractCheck("floating-point mode") { subject in
        for kind in subject.formats {
            let trial = Trial(
                subject: subject, picture: TestPicture.all(.noise)[2], kind: kind, values: subject.fallbacks)
            guard try trial.render(trial.extent).keepsMode else {
                throw Breach("it changes the floating-point mode; put it back")
            }
        }
    }

    /// Whole numbers and floats of the same picture differ by rounding; a threshold may tip a few pixels over.
    static let formats = ContractCheck("formats agree") { subject in
        guard subject.formats.contains(.u8) else { throw Inapplicable("it takes 32-bit floats alone") }
        for picture in TestPicture.all(.noise) where subject.isPoint || !picture.hasAlpha {
            func output(_ kind: SampleKind) throws -> [UInt8] {
                let trial = Trial(subject: subject, picture: picture, kind: kind, values: subject.fallbacks)
                return try trial.output(trial.extent)
            }
            let (bytes, floats) = (try output(.u8), floats(try output(.f32)))
            let far = zip(bytes, floats).count { abs(Float($0) - min(max($1, 0), 1) * 255) > 1.01 }
            guard far * 20 <= bytes.count else {
                throw Breach("bytes and floats of \(picture.title) differ at \(far) of \(bytes.count) samples")
            }
        }
    }
}

/// What the bytes of 32-bit floats say.
func floats(_ bytes: [UInt8]) -> [Float] {
    bytes.withUnsafeBytes { raw in
        stride(from: 0, to: raw.count, by: 4).map { raw.loadUnaligned(fromByteOffset: $0, as: Float.self) }
    }
}
