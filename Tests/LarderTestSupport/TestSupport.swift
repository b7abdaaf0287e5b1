// The rigs that tests stand on.
//
// 1. ``ServiceProcess`` starts a service that is not part of Larder, waits until it responds, stops it, restarts it on its
//    port; it dies with the test process. ``MockSAP`` and ``ODataPyService`` are the two services.
// 2. Their suite traits (`.mockSAP()`, `.odataPy()`) run one instance for all tests of a suite. A service that cannot
//    start fails the suite with the reason.
// 3. ``PlainHTTP`` sends requests to a service without any of Larder's own code: the control plane, and the truth to
//    compare with.
// 4. `ScriptedServer` returns exactly the bytes that a test defines.
// 5. ``TemporaryFolder``, ``PrintedSeed``, ``SharedOData``: files, randomness that can be repeated, foreign samples.
// 6. ``onDedicatedThread(kilobytes:_:)`` for what computes for seconds without a break; a ``Tally`` waits for what
//    happens elsewhere.

public import Foundation

/// Where the package is on this machine.
public enum PackageRoot {
  /// The folder that holds `Package.swift`.
  public static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A path below the package's folder, for example `Tests/Services`.
  public static func path(_ below: String) -> String { folder.appending(path: below).path(percentEncoded: false) }
}
