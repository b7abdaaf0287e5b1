import Foundation
public import LarderCore

extension LarderEnvironment {
  /// The system's, with a date and time of a test's own: milliseconds since 1970.
  public static func at(_ milliseconds: @escaping @Sendable () -> Int64) -> LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.now = { Date(timeIntervalSince1970: Double(milliseconds()) / 1000) }
    return environment
  }

  /// The system's, with waits of a second and more of a test's own. Live results wait for less.
  public static func sleeping(_ sleep: @escaping @Sendable (Duration) async throws -> Void) -> LarderEnvironment {
    var environment = LarderEnvironment.system
    environment.sleep = { time in
      if time < .seconds(1) { try await system.sleep(time) } else { try await sleep(time) }
    }
    return environment
  }
}
