import Kernels

/// Curves of ICC profiles: `curv` and `para` (ICC.1:2010, 10.5 and 10.15).
extension ToneCurve {
    /// Nil for what is neither.
    init?(_ data: ICCData) {
        switch data.word(at: 0) {
        case "curv":
            guard let count = data.integer(at: 8, length: 4) else { return nil }
            self.init(curve: data, count: count)
        case "para":
            guard let kind = data.integer(at: 8, length: 2) else { return nil }
            self.init(parametric: data, kind: kind)
        default:
            return nil
        }
    }

    private init?(curve data: ICCData, count: Int) {
        switch count {
        case 0: self = .power(g: 1)
        case 1:
            guard let gamma = data.integer(at: 12, length: 2) else { return nil }
            self = .power(g: Double(gamma) / 256)
        default:
            guard count <= 65536 else { return nil }
            let values = (0..<count).compactMap { data.integer(at: 12 + 2 * $0, length: 2) }
            guard values.count == count else { return nil }
            self = .table(values.map { Double($0) / 65535 })
        }
    }

    private init?(parametric data: ICCData, kind: Int) {
        let counts = [1, 3, 4, 5, 7]
        guard counts.indices.contains(kind) else { return nil }
        let p = (0..<counts[kind]).compactMap { data.fixed(at: 12 + 4 * $0) }
        guard p.count == counts[kind], kind == 0 || kind > 2 || p[1] > 0 else { return nil }
        switch kind {
        case 0: self = .power(g: p[0])
        case 1: self = .power(g: p[0], a: p[1], b: p[2], d: -p[2] / p[1])
        case 2: self = .power(g: p[0], a: p[1], b: p[2], d: -p[2] / p[1], e: p[3], f: p[3])
        case 3: self = .power(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4])
        default: self = .power(g: p[0], a: p[1], b: p[2], c: p[3], d: p[4], e: p[5], f: p[6])
        }
    }

    /// Light, 0–1.
    ///
    /// - Parameter value: 0–1.
    func light(of value: Double) -> Double {
        let light = decode(value)
        return light.isFinite ? min(1, max(0, light)) : 0
    }
}

/// Bytes of an ICC profile, numbers with their highest byte first; nil beyond their end.
struct ICCData: Hashable {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
    }

    func part(at offset: Int, length: Int) -> ICCData? {
        guard offset >= 0, length >= 0, offset <= bytes.count, length <= bytes.count - offset else { return nil }
        let start = bytes.startIndex + offset
        return ICCData(bytes[start..<start + length])
    }

    func integer(at offset: Int, length: Int) -> Int? {
        part(at: offset, length: length)?.bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// 16 bits before the point, and 16 behind it.
    func fixed(at offset: Int) -> Double? {
        integer(at: offset, length: 4).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    /// Four letters.
    func word(at offset: Int) -> String? {
        part(at: offset, length: 4).map { String(decoding: $0.bytes, as: UTF8.self) }
    }
}
