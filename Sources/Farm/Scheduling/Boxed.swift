/// A large value in a place of its own, so that what holds it stays small: very many are held, and copied.
indirect enum Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    case of(Value)

    var value: Value {
        switch self {
        case .of(let value): value
        }
    }
}
