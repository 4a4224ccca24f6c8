import Arithmetic
import TestSupport
import Testing

/// The curves of PQ and HLG against the C library's powers, and against published values.
struct HDRCurveTests {
    @Test func `PQ is the published curve, in both directions`() {
        for step in 0...2000 {
            let value = Double(step) / 2000
            let light = PQCurve.decode(value)
            #expect(abs(light * PQCurve.nits - TrueTones.nits(ofPQ: value)) <= 1e-8)
            // The published curve begins a little above 0.
            #expect(abs(PQCurve.encode(light) - value) <= (step == 0 ? 1e-6 : 1e-9))
        }
        // Report ITU-R BT.2408-7, table 1, in per cent.
        for (nits, value) in [(203.0, 58.1), (100, 50.8), (1000, 75.2), (10_000, 100)] {
            #expect(abs(PQCurve.encode(nits / 10_000) * 100 - value) < 0.05)
        }
    }

    @Test func `HLG is the published curve`() {
        for step in 0...2000 {
            let value = Double(step) / 2000
            #expect(abs(HLGCurve.decode(value) - TrueTones.scene(ofHLG: value)) <= 1e-7)
        }
        #expect(HLGCurve.decode(0.5) == 1.0 / 12)
        #expect(abs(HLGCurve.decode(0.75) - 0.265) < 0.0005)
    }

    @Test func `values beyond the ends count as the ends, and NaN as black`() {
        for curve in [PQCurve.decode, HLGCurve.decode, PQCurve.encode] {
            #expect(curve(2) == 1 && curve(1) == 1 && curve(.infinity) == 1)
        }
        for curve in [PQCurve.decode, HLGCurve.decode] {
            #expect(curve(-1) == 0 && curve(0) == 0 && curve(.nan) == 0 && curve(-.infinity) == 0)
        }
        #expect(PQCurve.encode(.nan) == 0)
        #expect(PQCurve.encode(-1) == PQCurve.encode(0) && PQCurve.encode(0) < 1e-6)
    }

    @Test func `more light never has a smaller value`() {
        let lights = (0...4096).map { step in PQCurve.decode(Double(step) / 4096) }
        #expect(zip(lights, lights.dropFirst()).allSatisfy { $0 < $1 || $0 == 0 })
        let scenes = (0...4096).map { step in HLGCurve.decode(Double(step) / 4096) }
        #expect(zip(scenes, scenes.dropFirst()).allSatisfy { $0 < $1 })
    }
}
