import Catalogs
import FilterKit
import JobModel
import Rendering
import TestSupport
import Testing

/// A chain with a name that a failing test shows.
struct ChainCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let invocations: [FilterInvocation]

    init(_ name: String, _ invocations: [FilterInvocation]) {
        testDescription = name
        self.invocations = invocations
    }

    func make() throws -> Chain { try Chain(invocations, registry: .builtIn) }

    /// Every filter with every edge and extent, alone.
    static let single: [ChainCase] =
        Edge.allCases.flatMap(withEdge) + [
            ChainCase("gaussian 5 expand", [.gaussian(5, expand)]),
            ChainCase("motion 12 at 200° expand", [.motion(12, 200, expand)]),
        ]

    private static func withEdge(_ edge: Edge) -> [ChainCase] {
        func values(_ more: [String: ParameterValue] = [:]) -> [String: ParameterValue] {
            more.merging(["edge": .word(edge.rawValue)]) { $1 }
        }
        return [
            ChainCase("gaussian 3 \(edge)", [.gaussian(3, values())]),
            ChainCase("gaussian {9, 0.4} \(edge)", [.gaussian(x: 9, y: 0.4, values())]),
            ChainCase("gaussian 2 linear \(edge)", [.gaussian(2, values(["light": .word("linear")]))]),
            ChainCase("motion 17 at 25° \(edge)", [.motion(17, 25, values())]),
            ChainCase("motion 6 continuous \(edge)", [.motion(6, 118, values(["samples": .word("continuous")]))]),
            ChainCase("gaussian 4 within a pill \(edge)", [.gaussian(4, values(["within": pill]))]),
        ]
    }

    static let several: [ChainCase] = [
        ChainCase("gaussian, motion", [.gaussian(2), .motion(9, 60)]),
        ChainCase("wrap, wrap", [.gaussian(6, ["edge": .word("wrap")]), .motion(11, 10, ["edge": .word("wrap")])]),
        ChainCase("expand, then mirror", [.gaussian(3, expand), .gaussian(2, ["edge": .word("mirror")])]),
        ChainCase("expand twice", [.motion(5, 45, expand), .gaussian(2.5, expand)]),
        ChainCase(
            "within, wrap, transparent",
            [
                .gaussian(4, ["within": pill]), .motion(8, 90, ["edge": .word("wrap")]),
                .gaussian(1.5, ["edge": .word("transparent")]),
            ]),
        ChainCase("identity in the middle", [.gaussian(2), .motion(0, 0, expand), .motion(4, 77)]),
    ]

    static let expand: [String: ParameterValue] = ["extent": .word("expand")]

    private static let pill = ParameterValue.region(
        Region(
            x: .percent(20), y: .pixels(3.5), width: .percent(55), height: .percent(40), cornerRadius: .percent(50)))
}

extension FilterInvocation {
    static func gaussian(_ radius: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        gaussian(x: radius, y: radius, values)
    }

    static func gaussian(x: Double, y: Double, _ values: [String: ParameterValue] = [:]) -> FilterInvocation {
        FilterInvocation(filter: "gaussian", values: values.merging(["radius": .pair(x: x, y: y)]) { $1 })
    }

    static func motion(
        _ radius: Double, _ angle: Double, _ values: [String: ParameterValue] = [:]
    ) -> FilterInvocation {
        FilterInvocation(
            filter: "motion", values: values.merging(["radius": .number(radius), "angle": .number(angle)]) { $1 })
    }
}
