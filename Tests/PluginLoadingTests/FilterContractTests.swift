import FilterKitTesting
import Foundation
import Glibc
import PluginLoading
import Synchronization
import TestSupport
import Testing

/// The contract that authors try their plugins with finds what it is there for.
struct FilterContractTests {
    private let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture()
    }

    private func violations(_ source: String, _ defines: [String] = []) throws -> [String] {
        FilterContract.violations(of: try PluginFixture.entry(fixture.build(source, defines)))
    }

    @Test(arguments: ["spread", "threshold", "mirror"])
    func `good plugins keep it`(source: String) throws {
        #expect(try violations(source) == [])
    }

    @Test func `so does the plugin that comes with Penumbra`() throws {
        let path = try PluginFixture.buildFolder + "/libInvert.so"
        #expect(FilterContract.violations(of: try PluginFixture.entry(path)) == [])
    }

    @Test func `a filter that does nothing wrong is accused of nothing`() throws {
        #expect(try violations("misdeed", ["MISDEED=none"]) == [])
        #expect(try violations("misdeed", ["MISDEED=none", "REACH=4"]) == [])
    }

    /// What is done, by whom, and what the contract says first.
    private static let misdeeds: [(defines: [String], violation: String)] = [
        (["MISDEED=overrun"], "all formats and channels: it writes outside of its tile (behindRow(1))"),
        (["MISDEED=underrun"], "all formats and channels: it writes outside of its tile (beforeFirstRow)"),
        (["MISDEED=lazy"], "all formats and channels: it leaves pixels of u8 gray unwritten"),
        (
            ["MISDEED=tilewise"],
            "tile invariance: row 0 of u8 gray differs between a tile of 16×16 and the whole picture; what is written "
                + "may depend on places and values only"
        ),
        (
            ["MISDEED=peeking"],
            "declared region of interest: it reads beyond its tile: 1 px left, on the tile x 9…31, y 11…27 (it asked for "
                + "x 9…31, y 11…27; u8 gray; amount 0)"
        ),
        (
            ["MISDEED=counting"], "all formats and channels: it leaves pixels of u8 gray unwritten"
        ),
        (["MISDEED=upwards"], "floating-point mode: it changes the floating-point mode; put it back"),
        (
            ["MISDEED=silent"],
            "extreme values: with amount 1.0 it fails and says not why; write a sentence to `error`"
        ),
        (["MISDEED=sometimes"], "extreme values: with amount 1.0 row 0 of u8 gray differs between a tile of 36×25 and"),
        (
            ["MISDEED=infinite"],
            "all formats and channels: it writes what is no number, or infinite, for samples of 0…1 (f32 gray)"
        ),
        (["MISDEED=clashing"], "formats agree: bytes and floats of gray differ at"),
    ]

    @Test(arguments: misdeeds)
    func `a misdeed is found and named`(misdeed: (defines: [String], violation: String)) throws {
        let found = try violations("misdeed", misdeed.defines)
        #expect(found.contains { $0.hasPrefix(misdeed.violation) }, "\(found)")
    }

    /// The halo of a maximum over a radius, and what the contract says of it.
    private static let halos: [(define: String, violation: String)] = [
        (
            "HALO=r-1,r-1,r-1,r-1",
            "it reads beyond its halo: 1 px left, 1 px right, 1 px above, 1 px below, on the tile x 9…31, y 11…27 (it asked for "
                + "x 7…33, y 9…29; f32 gray; radius 3, area square)"
        ),
        (
            "HALO=r,r,0,r",
            "it reads beyond its halo: 3 px right, on the tile x 9…31, y 11…27 (it asked for x 6…31, y 8…30; f32 gray; radius 3, "
                + "area square)"
        ),
        // Only the largest value has the fault, and the fallback has not.
        (
            "HALO=r,r<29?r:20,r,r",
            "it reads beyond its halo: 10 px above, on the tile x 9…31, y 11…27 (it asked for x -21…61, y -9…57; f32 RGB with "
                + "alpha; radius 30, area square)"
        ),
    ]

    @Test(arguments: halos)
    func `a halo that is too small is measured, and no other check lets it crash`(
        halo: (define: String, violation: String)
    ) throws {
        #expect(try violations("widest", [halo.define]) == ["declared region of interest: \(halo.violation)"])
        #expect(
            try outcome("tile invariance", "widest", [halo.define])
                == .skipped("its declared region of interest is broken"))
    }

    @Test func `a halo that is wide enough is accepted`() throws { #expect(try violations("widest") == []) }

    @Test func `each call is announced with its tile, samples and values`() throws {
        let calls = Mutex<[String]>([])
        let calling = FilterContract.Calling { what, call in
            calls.withLock { $0.append(what) }
            return call()
        }
        FilterContract.check(
            try PluginFixture.entry(fixture.build("widest")), measuringMemory: false, calling: calling, begin: { _ in }
        ) { _, _ in }
        let announced = calls.withLock { $0 }
        #expect(
            announced.first
                == "the tile x 0…60, y 0…42 (it asked for x -3…63, y -3…45; f32 gray; radius 3, area square)")
        #expect(
            announced.contains("the tile x 0…6, y 0…4 (it asked for x -3…9, y -3…7; f32 RGB; radius 3, area square)"))
    }

    /// What a plugin answers about its geometry, and what is said of it.
    private static let geometry: [(define: String, violation: String)] = [
        ("EXTENT=input.width=0;", "geometry: with its fallbacks its extent of "),
        ("EXTENT=input.height=1000001;", "geometry: with its fallbacks its extent of "),
        ("REGION=read.height=0;", "geometry: with its fallbacks of "),
        ("REGION=read.height=output.height+32769;", "geometry: with its fallbacks of "),
        ("REGION=if(output.width<20)read.x-=90;", "geometry: with its fallbacks it reads more for "),
    ]

    @Test(arguments: geometry)
    func `rectangles that the header forbids are found before pixels are asked for`(
        answer: (define: String, violation: String)
    ) throws {
        let found = try violations("mirror", [answer.define])
        #expect(found.count == 1 && found[0].hasPrefix(answer.violation), "\(found)")
    }

    private func outcome(_ check: String, _ source: String, _ defines: [String] = []) throws -> FilterContract.Outcome?
    {
        var outcomes: [String: FilterContract.Outcome] = [:]
        FilterContract.check(
            try PluginFixture.entry(fixture.build(source, defines)), measuringMemory: false, begin: { _ in }
        ) { outcomes[$0] = $1 }
        return outcomes[check]
    }

    @Test func `what was not tried is not called kept`() throws {
        #expect(try outcome("extreme values", "mirror") == .skipped("it has no parameters"))
        #expect(
            try outcome("extreme values", "spread", ["NEAREST=700"])
                == .skipped("at the ends of its parameters it reads too far around to be tried"))
        #expect(try outcome("extreme values", "misdeed", ["MISDEED=none"]) == .kept)
    }

    @Test func `a description whose parameters cannot be counted is refused`() throws {
        let found = try violations("flawed", ["PARAMETERS=65"])
        #expect(found == ["description: it is of another interface, incomplete, or without PENUMBRA_F32"])
    }

    @Test func `an identity that changes pixels is found`() throws {
        let found = try violations("misdeed", ["MISDEED=liar"])
        #expect(found.contains("identity: values that it calls an identity change u8 gray"), "\(found)")
    }

    @Test func `what is no description is refused`() {
        #expect(FilterContract.violations(of: nil) == ["description: the entry function answers NULL"])
    }
}

extension PluginFixture {
    /// What a library's entry function answers.
    static func entry(_ path: String) throws -> UnsafeRawPointer? {
        let library = try #require(dlopen(path, RTLD_NOW | RTLD_LOCAL))
        let symbol = try #require(dlsym(library, "penumbra_plugin_entry"))
        typealias Entry = @convention(c) (UInt32) -> UnsafeRawPointer?
        return unsafeBitCast(symbol, to: Entry.self)(1)
    }
}
