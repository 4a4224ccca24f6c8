import CPenumbraPlugin

/// The requirements of Penumbra for every filter plugin, as checks: for a plugin's own tests, or by `penumbra plugin check`.
///
///     @Test func `it keeps the contract`() { #expect(FilterContract.violations(of: plugin(1)) == []) }
///
/// A filter that reads or writes far beyond its tile accesses a forbidden page and ends the process. `penumbra plugin check` then
/// says which tile it was.
public enum FilterContract {
    /// The result of one check.
    public enum Outcome: Hashable, Sendable {
        case kept
        /// The violation of the filter.
        case broken(String)
        /// The reason why the check could not run.
        case skipped(String)
    }

    /// What is done around each call of the plugin's function `render`.
    public struct Calling: Sendable {
        fileprivate let body: @Sendable (_ what: String, _ call: () -> Int32) -> Int32

        /// Calls it, and does nothing else.
        public init() { body = { $1() } }

        /// - Parameter body: receives what the filter is asked for, so that a crash can be attributed to it, and the call. It runs on
        ///   several threads at once.
        public init(_ body: @escaping @Sendable (_ what: String, _ call: () -> Int32) -> Int32) { self.body = body }

        func around(_ what: @autoclosure () -> String, _ call: () -> Int32) -> Int32 { body(what(), call) }
    }

    /// All violations of a plugin, as sentences.
    ///
    /// - Parameter plugin: the result of its entry function.
    public static func violations(of plugin: UnsafeRawPointer?) -> [String] {
        var violations: [String] = []
        check(plugin, measuringMemory: false) { _ in
        } report: { name, outcome in
            if case .broken(let how) = outcome { violations.append("\(name): \(how)") }
        }
        return violations
    }

    /// Runs all checks.
    ///
    /// - Parameters:
    ///   - plugin: the result of its entry function.
    ///   - measuringMemory: also looks for memory leaks of calls; only for a process that does nothing else.
    ///   - calling: is done around each call of its function `render`.
    ///   - begin: receives each check's name before the check runs, so that a crash can be attributed to it.
    ///   - report: receives the result of each check.
    public static func check(
        _ plugin: UnsafeRawPointer?, measuringMemory: Bool, calling: Calling = Calling(), begin: (String) -> Void,
        report: (String, Outcome) -> Void
    ) {
        begin("description")
        guard let plugin else { return report("description", .broken("the entry function answers NULL")) }
        guard var subject = Subject(plugin.assumingMemoryBound(to: penumbra_plugin.self)) else {
            return report("description", .broken("it is of another interface, incomplete, or without PENUMBRA_F32"))
        }
        subject.calling = calling
        report("description", .kept)
        begin(ContractCheck.geometry.name)
        let geometry = ContractCheck.geometry.outcome(subject)
        report(ContractCheck.geometry.name, geometry)
        // Other checks would request invalid rectangles, and Penumbra never renders such a plugin.
        var obstacle = geometry == .kept ? nil : "its geometry is broken"
        for check in ContractCheck.ofPixels where measuringMemory || !check.measuresMemory {
            if let obstacle {
                report(check.name, .skipped(obstacle))
                continue
            }
            begin(check.name)
            let outcome = check.outcome(subject)
            report(check.name, outcome)
            // In other checks, a forbidden page would end the process.
            if check.name == ContractCheck.halo.name, case .broken = outcome {
                obstacle = "its declared region of interest is broken"
            }
        }
    }
}

/// One check of the contract.
struct ContractCheck: Sendable {
    let name: String
    var measuresMemory = false
    private let body: @Sendable (Subject) throws -> Void

    init(_ name: String, measuresMemory: Bool = false, _ body: @escaping @Sendable (Subject) throws -> Void) {
        self.name = name
        self.measuresMemory = measuresMemory
        self.body = body
    }

    func outcome(_ subject: Subject) -> FilterContract.Outcome {
        do {
            try body(subject)
            return .kept
        } catch let breach as BreachError {
            return .broken(breach.description)
        } catch {
            return .skipped("\(error)")
        }
    }

    static let ofPixels =
        [renders, halo, tiles, again, threads, special, extremes, identity, formats, cancellation, arithmetic, memory]
}

/// A violation of the contract.
struct BreachError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The reason why a check cannot run.
struct InapplicableError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
