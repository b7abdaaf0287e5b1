public import LarderCore
public import LarderHTTP
public import LarderService
public import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The configuration of an offline store: its file, and how it communicates with its service.
public struct OfflineODataParameters: Sendable {
  /// The name of the store: its file is `NAME.larder` in ``path``. Letters, digits, `-`, `_` and `.`.
  ///
  /// Two different names are two files, also on a file system that ignores case: a digest is appended to a name that
  /// is longer than 64 bytes, contains capital or non-ASCII letters, or has a dot at either end or two in succession.
  public var storeName: String
  /// The folder of the file; it is created if it does not exist. Nil means `APPLICATION/offline/SERVICE` in the
  /// platform's folder for data: `Library/Application Support` on Apple platforms, elsewhere `$XDG_DATA_HOME` or
  /// `~/.local/share`. ``OfflineODataProvider/parameters`` contain the resulting path.
  public var path: String?
  /// Whether opening creates the file if it does not exist. If false, opening throws `notFound`.
  public var createsStore: Bool
  /// Whether opening runs the first download, or resumes it. If false, the store opens at once with the rows it has,
  /// and ``OfflineODataProvider/download(_:whole:)`` downloads the rest.
  public var downloadsOnOpening: Bool
  /// The number of rows that the service is asked to put in a page (`Prefer: odata.maxpagesize`). If the service does
  /// not page, the store requests pages with `$top` and `$skip`. Nil leaves the page size to the service.
  public var pageSize: Int?
  /// The time limit for one page; nil uses the time limits of ``conversation``.
  public var timeout: Duration?
  /// Header fields sent with every request to the service.
  public var customHeaders: HTTPFields
  /// Encrypts the file, its log and its temporary files; nil keeps them unencrypted. An existing file must be encrypted
  /// with this key; use ``OfflineODataProvider/changeEncryptionKey(of:to:)`` to encrypt one.
  ///
  /// The key can be set but not read: this property is always nil when read. ``OfflineODataProvider/parameters`` do not
  /// contain the key either: a provider created with them cannot open the file.
  public var encryptionKey: StorageKey? {
    get { nil }
    set { givenKey = GivenKey(newValue) }
  }
  /// When the store's file can be read and written, on Apple's devices.
  public var fileProtection: FileProtection
  /// The user who works with the store; nil does not specify a user, and opens any store in place. A store keeps its
  /// owner; a store without an owner belongs to the first user who opens it. Use any text that always identifies the
  /// same user; it is not written to any file.
  public var currentUser: String?
  /// What happens when the store in place belongs to a user other than ``currentUser``.
  public var onUserSwitch: OfflineODataUserSwitch
  /// Options for the communication with the service.
  public var conversation: ODataConversationOptions
  var environment: LarderEnvironment { conversation.environment }
  /// Indexes in addition to those on keys and foreign keys.
  public var indexes: [OfflineODataIndex]
  /// How many defining queries are downloaded at the same time, if they download rows of different sets: 1 to 4.
  public var parallelQueries: Int
  /// The maximum number of requests with which one defining query follows links that the service does not expand
  /// although the query has `$expand`: one request for each row and link. If a link needs more requests, it is not
  /// downloaded. The default is 0: such links are not followed.
  public var linkRequestLimit: Int
  /// How long the staged rows of an interrupted download can be resumed. If they are older, the download starts again,
  /// because the pages of one read would be from times too far apart. The default is one day.
  public var stagingAgeLimit: Duration
  /// The maximum number of rows in a result; a longer result has a next link. Nil returns all rows.
  public var resultPageSize: Int?
  /// Whether pending changes of one entity are merged: an update is merged into the unsent create or update. A create that
  /// was never sent and its delete always cancel each other.
  public var combinesChanges: Bool
  /// Called with what no call can throw: a feature that the service rejects, or work that the store left out. Called on
  /// any thread, and never under a lock. ``OfflineODataProvider/events`` report the progress of the store's work.
  public var onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)?

  package var givenKey: GivenKey

  /// Creates parameters. By default the file is `store.larder` in the service's folder below the platform's folder for
  /// data, and three queries are downloaded at the same time.
  public init(
    storeName: String = "store", path: String? = nil, createsStore: Bool = true, downloadsOnOpening: Bool = true,
    pageSize: Int? = nil,
    timeout: Duration? = nil, customHeaders: HTTPFields = [:], encryptionKey: StorageKey? = nil,
    currentUser: String? = nil, onUserSwitch: OfflineODataUserSwitch = .reject,
    conversation: ODataConversationOptions = ODataConversationOptions(retry: .background),
    indexes: [OfflineODataIndex] = [],
    parallelQueries: Int = 3, linkRequestLimit: Int = 0, stagingAgeLimit: Duration = .seconds(86_400),
    resultPageSize: Int? = nil,
    combinesChanges: Bool = false, fileProtection: FileProtection = .completeUntilFirstUserAuthentication,
    onDiagnostic: (@Sendable (LarderDiagnostic) -> Void)? = nil
  ) {
    self.storeName = storeName
    self.path = path
    self.createsStore = createsStore
    self.downloadsOnOpening = downloadsOnOpening
    self.pageSize = pageSize
    self.timeout = timeout
    self.customHeaders = customHeaders
    givenKey = GivenKey(encryptionKey)
    self.fileProtection = fileProtection
    self.currentUser = currentUser
    self.onUserSwitch = onUserSwitch
    self.conversation = conversation
    self.indexes = indexes
    self.parallelQueries = parallelQueries
    self.linkRequestLimit = linkRequestLimit
    self.stagingAgeLimit = stagingAgeLimit
    self.resultPageSize = resultPageSize
    self.combinesChanges = combinesChanges
    self.onDiagnostic = onDiagnostic
  }

  /// The path of the store's file in a folder.
  package func file(in folder: String) -> String {
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    let name = FileName.distinct(storeName) + ".larder"
    // Stores created by earlier versions keep their unchanged names.
    let formerName = storeName + ".larder"
    if name != formerName, let names = try? FileManager.default.contentsOfDirectory(atPath: folder),
      !names.contains(name), names.contains(where: { $0.utf8.elementsEqual(formerName.utf8) })
    {
      return prefix + formerName
    }
    return prefix + name
  }

  /// The folder of the store's files: ``path``, or the default folder of the service.
  func folder(for root: ODataServiceRoot) throws(OfflineODataError) -> String {
    if let path { return path }
    do throws(StorageError) {
      return try DefaultLocation.offlineStore(root.givenURL).path(in: environment.folders)
    } catch { throw OfflineODataError(error) }
  }

  /// The settings that the open store uses.
  var openStoreSettings: OpenStoreSettings {
    OpenStoreSettings(
      pageSize: pageSize, resultPageSize: resultPageSize, combinesChanges: combinesChanges, indexes: indexes,
      parallelQueries: parallelQueries, linkRequestLimit: linkRequestLimit, stagingAgeLimit: stagingAgeLimit,
      onDiagnostic: onDiagnostic)
  }

  /// The parameters without keys.
  var withoutKeys: OfflineODataParameters {
    var parameters = self
    parameters.givenKey = givenKey.withheld
    if case .setAside = onUserSwitch { parameters.onUserSwitch = .setAside() }
    return parameters
  }

  /// Throws `encryptionKeyMissing` for the parameters of an encrypted store, which do not have its key: a file that is
  /// created with them would be plain.
  func checkKey() throws(OfflineODataError) {
    guard givenKey.isMissing else { return }
    throw OfflineODataError(
      .encryptionKeyMissing, "the parameters come from an encrypted store, without its key: set encryptionKey")
  }

  /// Throws `invalidInput` for a parameter outside its range.
  func check() throws(OfflineODataError) {
    let isName =
      !storeName.isEmpty && storeName != "." && storeName != ".." && storeName.utf8.count <= 200
      && storeName.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x80...: true
        default: false
        }
      }
    guard isName else { throw OfflineODataError(.invalidStoreName, "'\(storeName)'") }
    func invalid(_ detail: String) -> OfflineODataError { OfflineODataError(.invalidParameter, detail) }
    if let currentUser, currentUser.isEmpty {
      throw invalid("currentUser is empty; use nil for a store without a user")
    }
    if let pageSize, pageSize < 1 { throw invalid("pageSize is \(pageSize); it must be 1 or more") }
    if let resultPageSize, resultPageSize < 1 {
      throw invalid("resultPageSize is \(resultPageSize); it must be 1 or more")
    }
    if linkRequestLimit < 0 { throw invalid("linkRequestLimit is \(linkRequestLimit); it must not be negative") }
    if let timeout, timeout <= .zero { throw invalid("timeout is \(timeout); it must be greater than 0") }
    if stagingAgeLimit < .zero { throw invalid("stagingAgeLimit is \(stagingAgeLimit); it must not be negative") }
    guard (1...4).contains(parallelQueries) else {
      throw invalid("parallelQueries is \(parallelQueries); it must be 1 to 4")
    }
  }

  /// The conversation's options with the store's header fields and time limit.
  var conversationOptions: ODataConversationOptions {
    var options = conversation
    for field in customHeaders { options.fields[field.name] = field.value }
    if let timeout { options.timeouts.total = timeout }
    options.rejectsOtherOrigins = true
    return options
  }
}
