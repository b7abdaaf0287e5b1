public import HTTPCore
public import ODataService

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A service used without a network: a relational copy in one file, filled by defining queries, asked by OData URLs.
///
/// ```swift
/// let provider = try OfflineODataProvider(serviceRoot: url, transport: CurlTransport())
/// try await provider.add(OfflineODataDefiningQuery("orders", "Orders?$expand=Items"))
/// try await provider.open()  // the first time: metadata and rows; later: no network
/// let open = try await provider.readEntitySet("Orders?$filter=Status eq 'Open'&$orderby=Date desc&$top=20")
/// try await provider.download()
/// ```
///
/// It answers as the service would; what it cannot answer is `notSupported` with the construct's name.
public final class OfflineODataProvider: Sendable {
  /// The service.
  public let root: ODataServiceRoot
  /// How the store is kept.
  public let parameters: OfflineODataParameters

  let transport: any HTTPTransport
  let authentication: (any Authentication)?

  /// Makes a closed store; nothing is sent or written yet.
  ///
  /// Throws `invalidInput` for a root that is no http or https URL, and for parameters outside their range; `notSupported`
  /// for an encryption key.
  public init(
    serviceRoot: URL, transport: any HTTPTransport, authentication: (any Authentication)? = nil,
    parameters: OfflineODataParameters = OfflineODataParameters()
  ) throws(OfflineODataError) {
    try parameters.check()
    do throws(ODataServiceError) { root = try ODataServiceRoot(serviceRoot) } catch {
      throw OfflineODataError(.invalidServiceRoot, cause: error)
    }
    self.transport = transport
    self.authentication = authentication
    self.parameters = parameters
  }
}
