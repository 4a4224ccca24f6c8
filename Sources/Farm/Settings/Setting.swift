/// A value and where it came from.
package struct Setting<Value: Sendable>: Sendable {
    /// In rising precedence.
    package enum Origin: Hashable, Sendable {
        case standard
        case file(String)
        case environment(String)
        case flag(String)

        package var description: String {
            switch self {
            case .standard: "default"
            case .file(let path): path
            case .environment(let name): name
            case .flag(let name): name
            }
        }
    }

    package let value: Value
    package let origin: Origin

    package init(_ value: Value, _ origin: Origin = .standard) {
        self.value = value
        self.origin = origin
    }
}

/// What a setting can be told by. Later layers win.
struct Layers<Value: Sendable> {
    private var setting: Setting<Value>

    init(standard: Value) { setting = Setting(standard) }

    mutating func add(_ value: Value?, _ origin: Setting<Value>.Origin) {
        if let value { setting = Setting(value, origin) }
    }

    var result: Setting<Value> { setting }
}
