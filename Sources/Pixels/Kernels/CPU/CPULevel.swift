import CCPUFeatures
import Glibc

/// The instructions that the inner loops are compiled for. All levels give the same bytes.
public enum CPULevel: String, Hashable, Sendable, CaseIterable {
    /// x86-64-v2: SSE4.2.
    case v2
    /// x86-64-v3: AVX2.
    case v3
    /// x86-64-v4: AVX-512.
    case v4
    /// The only level of other architectures.
    case native

    /// The environment variable that forces a level, for tests and measurements.
    public static let variable = "PENUMBRA_CPU"

    /// The levels that this CPU supports, the best one last.
    public static let supported: [CPULevel] = supported(x86Level: Int(penumbra_x86_level()))

    /// The level in use, chosen once per process: the level that ``variable`` names, or else the best one.
    ///
    /// Stops the process if its CPU supports no level, or if ``variable`` names an unsupported level. Another level would hide
    /// the mistake, and unsupported instructions would stop the process without a message. Programs call ``chosen(by:of:)`` at
    /// their start and report the error.
    public static let current: CPULevel = {
        do {
            return try chosen(by: getenv(variable).map { String(cString: $0) }, of: supported)
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// The level that a value of ``variable`` selects on a CPU with these levels. Nil and the empty string select the best.
    public static func chosen(by value: String?, of supported: [CPULevel]) throws(CPULevelError) -> CPULevel {
        guard let best = supported.last else { throw CPULevelError(value: nil, supported: []) }
        guard let value, !value.isEmpty else { return best }
        guard let level = CPULevel(rawValue: value), supported.contains(level) else {
            throw CPULevelError(value: value, supported: supported)
        }
        return level
    }

    /// - Parameter x86Level: 1 to 4; 0 on other architectures.
    package static func supported(x86Level: Int) -> [CPULevel] {
        switch x86Level {
        case 0: [.native]
        case 3: [.v2, .v3]
        case 4...: [.v2, .v3, .v4]
        case 2: [.v2]
        default: []
        }
    }
}

/// A filter that runs the inner loops of one level.
package protocol LevelChoosing {
    var level: CPULevel { get set }
}

extension LevelChoosing {
    /// The same filter with the inner loops of a level, which this CPU must support.
    package func running(on level: CPULevel) -> Self {
        var copy = self
        copy.level = level
        return copy
    }
}

/// A requested level that does not exist, or that this CPU does not support.
public struct CPULevelError: Error, Hashable, CustomStringConvertible {
    /// The requested value; nil if the CPU supports no level.
    public let value: String?
    public let supported: [CPULevel]

    public var description: String {
        guard let value else { return "this CPU is too old: Penumbra needs x86-64-v2 (SSE4.2) or later" }
        let names = supported.map(\.rawValue).joined(separator: ", ")
        return "\(CPULevel.variable): this CPU cannot run '\(value)'; it has \(names) — unset it to use the best"
    }
}
