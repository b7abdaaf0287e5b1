import Foundation
import LarderTestSupport
import LarderTesting
import Testing

/// Models of real services, from `../shared/odata`.
@Suite("Test service: models of real services", .timeLimit(.minutes(5)))
struct RealMetadataTests {
  /// Without the model of Microsoft Graph, whose thousands of tables take minutes.
  static let files = SharedOData.files(in: "samples/metadata/v4", suffix: "").filter {
    ((try? Data(contentsOf: $0).count) ?? .max) < 1 << 20
  }

  @Test("Each set of a model can be read", arguments: files)
  func sets(_ file: URL) async throws {
    let bytes = [UInt8](try Data(contentsOf: file))
    let service: ODataTestService
    // Some samples are fragments, which no service could have as its metadata.
    do { service = try ODataTestService(metadata: bytes) } catch { return }
    for set in service.model.defaultContainer?.entitySets ?? [] {
      guard service.model.entityType(of: set.name) != nil else { continue }
      let response = try await service.get(set.name)
      #expect(response.status == 200 && response.node["value"]?.items?.isEmpty == true, "\(set.name): \(response.text)")
    }
  }
}
