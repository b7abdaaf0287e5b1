import LarderCore
public import LarderHTTP
public import LarderService
public import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How an offline store is kept and how its service is asked.
public struct OfflineODataParameters: Sendable {
  /// The name of the store: its file is `NAME.larder` in ``storePath``. Letters, digits, `-`, `_` and `.`.
  ///
  /// Two different names are two files, also where the file system takes small and capital letters for one: a digest follows a
  /// name with capital letters, or with others than those from `a` to `z`.
  public var storeName: String
  /// The folder of the file, made where it is missing. Nil is a folder with the names of the application and of the service in
  /// the platform's folder for data: `Library/Application Support` on Apple platforms, elsewhere `$XDG_DATA_HOME` or
  /// `~/.local/share`. ``OfflineODataProvider/parameters`` name it.
  public var storePath: String?
  /// Whether opening makes a file where there is none; where not, it throws `notFound`.
  public var createsStore: Bool
  /// Whether opening fills a store that was never filled, or goes on with that. Where not, it opens at once what has come,
  /// and ``OfflineODataProvider/download(_:whole:)`` brings the rest.
  public var fillsOnOpening: Bool
  /// The rows that the service is asked to put in a page (`Prefer: odata.maxpagesize`); where it makes no pages, the store
  /// cuts them itself by `$top` and `$skip`. Nil leaves it to the service.
  public var pageSize: Int?
  /// How long a page may take in all; nil takes the conversation's time limits.
  public var timeout: Duration?
  /// Fields of every request to the service.
  public var customHeaders: HTTPFields
  /// Encrypts the file, with its log and its temporary files; nil keeps a plain one. One that is there must be encrypted
  /// with it; ``OfflineODataProvider/changeKey(of:to:)`` makes it so.
  ///
  /// A key is passed in and never shown: this reads as nil, whatever was given. ``OfflineODataProvider/parameters`` do not hold
  /// it: a provider that is made with them does not open the file.
  public var storeEncryptionKey: StorageKey? {
    get { nil }
    set { givenKey = GivenKey(newValue) }
  }
  /// When the store's file can be read and written, on Apple's devices.
  public var fileProtection: FileProtection
  /// Who works with the store; nil says nothing about it, and opens whatever is in place. A store keeps whose it is, and one
  /// that was nobody's becomes that of who opens it first. Any text that names one user always; it is in no file.
  public var currentUser: String?
  /// What becomes of a store in place that belongs to another than ``currentUser``.
  public var onUserSwitch: OfflineODataUserSwitch
  /// How the service is spoken with.
  public var conversation: ConversationOptions
  var environment: LarderEnvironment { conversation.environment }
  /// Indexes beside those on keys and foreign keys.
  public var indexes: [OfflineODataIndex]
  /// How many defining queries are downloaded at once, where they bring rows of different sets: 1 to 4.
  public var parallelQueries: Int
  /// How long what a cut download has staged is gone on with; older, the download begins anew, for the pages of one read
  /// would be of times too far apart. A day where nothing is said.
  public var maximumStagingAge: Duration
  /// The most rows of an answer, which then has a next link; nil gives all.
  public var answerPageSize: Int?
  /// Whether changes of an entity that wait to be sent are merged: updates into the unsent create or update, a create and
  /// its delete into nothing.
  public var combinesChanges: Bool

  package var givenKey: GivenKey

  /// The defaults: `store.larder` in the platform's folder for data, three queries at once.
  public init(
    storeName: String = "store", storePath: String? = nil, createsStore: Bool = true, fillsOnOpening: Bool = true,
    pageSize: Int? = nil,
    timeout: Duration? = nil, customHeaders: HTTPFields = [:], storeEncryptionKey: StorageKey? = nil,
    currentUser: String? = nil, onUserSwitch: OfflineODataUserSwitch = .refuse,
    conversation: ConversationOptions = ConversationOptions(), indexes: [OfflineODataIndex] = [],
    parallelQueries: Int = 3, maximumStagingAge: Duration = .seconds(86_400), answerPageSize: Int? = nil,
    combinesChanges: Bool = false, fileProtection: FileProtection = .completeUntilFirstUserAuthentication
  ) {
    self.storeName = storeName
    self.storePath = storePath
    self.createsStore = createsStore
    self.fillsOnOpening = fillsOnOpening
    self.pageSize = pageSize
    self.timeout = timeout
    self.customHeaders = customHeaders
    givenKey = GivenKey(storeEncryptionKey)
    self.fileProtection = fileProtection
    self.currentUser = currentUser
    self.onUserSwitch = onUserSwitch
    self.conversation = conversation
    self.indexes = indexes
    self.parallelQueries = parallelQueries
    self.maximumStagingAge = maximumStagingAge
    self.answerPageSize = answerPageSize
    self.combinesChanges = combinesChanges
  }

  /// The path of the store's file. With a ``storePath`` of nil it lacks the service's name until a provider has the parameters.
  public var file: String {
    let folder = storePath ?? PlatformFolder.data
    let prefix = folder.hasSuffix("/") ? folder : folder + "/"
    let name = FileName.distinct(storeName) + ".larder"
    // Stores of earlier versions have their names as they are.
    let formerName = storeName + ".larder"
    if name != formerName, let names = try? FileManager.default.contentsOfDirectory(atPath: folder),
      !names.contains(name), names.contains(where: { $0.utf8.elementsEqual(formerName.utf8) })
    {
      return prefix + formerName
    }
    return prefix + name
  }

  /// The same with a folder: of no name, it is the service's.
  func placed(for root: ODataServiceRoot) -> OfflineODataParameters {
    guard storePath == nil else { return self }
    var parameters = self
    let host = root.origin.host.isEmpty ? "service" : root.origin.host
    let digest = Digest.hexadecimal(Digest.sha256(Array(root.url.absoluteString.utf8)).prefix(8))
    parameters.storePath = "\(PlatformFolder.data)/\(FileName.distinct(host))-\(digest)"
    return parameters
  }

  /// The same without keys.
  var shown: OfflineODataParameters {
    var parameters = self
    parameters.givenKey = .withheld
    if case .setAside = onUserSwitch { parameters.onUserSwitch = .setAside() }
    return parameters
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
    func refuse(_ what: String) -> OfflineODataError { OfflineODataError(.invalidParameter, what) }
    if let currentUser, currentUser.isEmpty { throw refuse("currentUser is empty; nil says nothing about the user") }
    if let pageSize, pageSize < 1 { throw refuse("pageSize is \(pageSize), it must be 1 or more") }
    if let answerPageSize, answerPageSize < 1 {
      throw refuse("answerPageSize is \(answerPageSize), it must be 1 or more")
    }
    if let timeout, timeout <= .zero { throw refuse("timeout is \(timeout), it must be longer than nothing") }
    if maximumStagingAge < .zero { throw refuse("maximumStagingAge is \(maximumStagingAge), it must not be negative") }
    guard (1...4).contains(parallelQueries) else {
      throw refuse("parallelQueries is \(parallelQueries), it must be 1 to 4")
    }
  }

  /// The conversation's options with the fields and the time limit of the store.
  var conversationOptions: ConversationOptions {
    var options = conversation
    for field in customHeaders { options.fields[field.name] = field.value }
    if let timeout { options.timeouts.total = timeout }
    return options
  }
}

/// An index that the application asks for: a set, and the properties that it often filters or orders by.
public struct OfflineODataIndex: Sendable, Hashable {
  /// The entity set.
  public var entitySet: String
  /// Properties in their order; paths of complex ones with `/`.
  public var properties: [String]

  /// An index on properties of a set.
  public init(_ entitySet: String, _ properties: [String]) {
    self.entitySet = entitySet
    self.properties = properties
  }
}
