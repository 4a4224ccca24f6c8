import JobModel
import RenderFarm
import Testing

@Suite struct DetachTests {
    @Test func `an engine takes detached runs if its jobs can resume a run`() {
        #expect(EngineName.slurm.detachRefusal == nil)
        #expect(EngineName.local.detachRefusal == "--detach needs a cluster: give --engine slurm, too")
        #expect(
            EngineName.commands.detachRefusal
                == "--detach needs Slurm: with 'commands' no job can continue a run; leave it out, or give --engine slurm"
        )
    }
}
