// SPDX-License-Identifier: MIT

/// Streams made with brotli's own encoder (libbrotlienc 1.0.9), since this package only decodes br. The comment of each
/// names its content, which is made by ``SampleBody``, and the encoder's settings.
enum BrotliFixture {
    /// No bytes, quality 5, window 22.
    static let empty = bytes(hex: "06")
    /// One `x`, quality 11, window 22.
    static let oneByte = bytes(hex: "0b00807803")
    /// `json(rows: 40)`, quality 1, window 10.
    static let smallWindow = bytes(
        hex: """
            83ff010080aaaaaaeaff740d90b38180b02c8b9dae7132f0d0003080f080000f8bb838b86a8b8530bed65e3fd30a5539
            89acacb177209c00634bb30c05a9bcf79ff7279d1fb4cb46dfc77dd14ee7b5ee6f421b1db7ebfc5fb45f8fbfb5d1cfe3
            bc2dda85e5b53dc71eaec14c9200fe3cbe7e47af58315eb3cf20da7a98a43a2e675551ab2824035dbb2e01c0365c3164
            2592c361ddc09b7dfae58909a4d07207878a57c09112f685a3aa9c2a116e86543ad1182e95340b456a9de824b74a410b
            48a31133e351ef0e4ef90c641a87e71dab84e02e4843373f46342e15c113a278a07fc6fec0e39ed132e3876121a3e5b0
            f2c71b1d5d86749e8685905a1300a3ab6fc34249cbbef24484046b96dc86859296c3ce1393126c9e7a9d9baf2de17f00
            00a0aaaaaafa3f5d1de4aca020c2b2dbed66e0a10e6000610e011616710908d32e4a3ebd1bd59d4d1d068b8bc511ed32
            9de1a3b654cb5078381afff33a9e8bb640cffc1f7f747cd06670ed41effd5cb4d171aff3214583f6e77dfc2edaeeeb67
            0dfaba5eff3a6296b0b3796135f8b57f7eafe78f9375b6a74b335181a5da78b270043ab004e6cdcecc29c269104705c8
            b8c426840ba286a5322e97a9c2cdec8a6512aeaa69c29d9dc07219377cba385eb50e1742c61d98215ab4d84609f31757
            774c6848629ccd88e992843426343a6c9c8d5a46d9125ad3631b96b6b4cc8b4b2425b4b9d5345c2a70b9f888654b6fbb
            1a6fc3d2965225050e5108925ae6cd0790945e47c318492d979b0bde12be32c57bd07b3f172a020000aaaaaaaaffd3d5
            81cf020ae62aba88c8e96e0705737100055033703057f38b8369eda05d53de5d0ec3c7c770a2c59461a81be6390645ff
            c2d0a7ef0fce20b46df69fc3de6d7c9df039fbe6b0a839e49bfee82f98e4a50ae168bbc3f2e1823dcfab9e618ea14034
            aa56ea8a97c3e1a2a142eb9363b558495a4a10d8221c6bb5e2f9f033250e7ad3718db10e
            """)
    /// `json(rows: 40)`, quality 11, window 24.
    static let bestQuality = bytes(
        hex: """
            1f1509409c07d9b9e2cc34aef822a515b5da4a7333a3aa7eebcb444044ebfaf3a193225d64562d973083b1c8339ad004
            a1916d24214a1c9a429ea2fc560d29344121d7fd18f9f0b9fd78bb2e6843fab6a424fbc79fab9f2bad7cdfb8757dbfaf
            ffd29b58b8ddb67af5ffeb94c9e18e5a0c9ec6c41be5c101bc5a63aca61f0915e7268db404f0041126735b9f257a5f9b
            e87cc65c62fd6cd2311a9a82e41b62b784a5a0ef858c64625bf0e62d091840f747d2bb5970a97c6b399d40d90dca3b5a
            bbdceb5cfc0a1cb176578ed79d98b4b722d48ec05a8d8ab05902596d224e0a858dfa5aa41e1658745851d33aa0d51922
            577bc14e538d789580ec4e9319de183d344992266c74d185724bc820bbd7d1555901b5ee4674b910cc7a54c6bb1b20bb
            6f08b415a33760bdcb8808076c4f05e14d1b65ba11c5d3267f9d4893b47b55915fa988d54550dd58321061f25b2a32c7
            ae8afc4a4512f84075f372eb8a4dfe6a9146afe39dc9e774f4e3a01d947629b32b62f2978a01fdffdf79
            """)
    /// `json(rows: 40)`, quality 5, window 18, flushed each 500 bytes.
    static let flushed = bytes(
        hex: """
            83f90000c4a60b95fda01b5280035a655f7db68a8a9ffacc2c33db990d27bcbbbdd0f04583ce030f4b127ca130d5c06d
            88c70e893f94fe3e9c3fda6f9abdd1e7ba174ddacfba8f4e8daed7b3bf8be6fbc5681478d2ecdcff6ded924386a3b47b
            74a6250b0f415981a9a5b312b5444ad67589089b884964689ebac58b7d8a8101105660104f884b51d8559583006e86a5
            2b06270933685e980f0040dc89e7672528f8b79dd98c030e138da5eb068360750fa46f056e4314bc22fe02d765b972e3
            d9cfa5e89154e160860f25764448fa89389307a965d188fdf33633a74c3190ba1bcdd18ff049ce29978a7e7783b82fe7
            5dabbe8721ef700c4a97e6ba1d03980f0040bcc1e62d11c0d24be63c38e0379cf2b070f040751b43a153348e90793e27
            1f4ae880a2b9ffa91aea38ac6c8f9b4c393f3804d2b47f745758cd6d9bc94c2c21f2a8b36eb260af2e91d1d419ad40cd
            9df454d71099f46a00980f00403c71a93fa4c3cc40c5731dd6f94687c221303ec66d8cecd57881a693df698db7445e14
            ea6707edc9fb4e4c4a2cc9295de9159417a3adbb4d3be18629d1362025f3b8d4409952c236f25f282d256a81f8e64cc9
            96a4e5e839f23300280a0040e0ff72b1e2317e0b0bcdad0d727102a176fe209cf070d085e1c063d892c7f12b5a3b4aa9
            db0b13184a53d6f63837425248315925724e7939a298f6ce108dca9cf777af0103
            """)
    /// `noise(300)`, quality 5, window 16.
    static let stored = bytes(
        hex: """
            b01210913969a1ae06052779065b87eb53cb64c9116bb5576d69586386887c6a9eeeb569a406a12e5beea626f6ddef63
            d56405371f80732782086f51c00c437200dac16a2efcf04234ddde05e1665519a85df98572985bbd9881e3b4a4e6a81a
            e7031eda54bb3b00d5df5d924e7d6ba50cea9455aba9c0f469edcec974ad1d26a43eef5780b48b2e9fe1a807c6091170
            183afc85eb89bd3662bd976705ab9b5adfcc9a8784bc21f14b621ca18e530950e57ffbe2d7830789f2683c0310eecee3
            7c96826076e47f52ed02881b1e95de89e9b7d395fca7640fbb74c5e28a196a5e25dd11a721121a41ba36c005eff384af
            cfc0ebb66838f6ffafd7b843a1ec73f6abd79606f1498d3da3bc302d1c74dea2e82bed94155f9c1065b4134f415ade52
            4c6b04c36b7ae052a381c8cf9e857503
            """)
    /// `json(rows: 40)`, quality 5, large window 26.
    static let largeWindow = bytes(
        hex: """
            111a2a120010d58615a2a7c1ab516ca72ea2d70b6a5fedfb4b05027e78c249df14a08f5f346d3ce0b58cb7b6f0aed0e1
            5a4e35baa9c4e231a5f75096d45efbc3e9dff57cb78e76581fd7eff7ebb89e3fefdf4f6c1dd6f5ede7f3f7fd3afe7e31
            3aac82c7eb68dbfe1f5e133598a718ddef31f4b16ac37310adf6ea18946f7aa88aa2d4eb1ac0163c4256725e7503efed
            e99898a832828e1d1eaf8053d9704872a727c2a5ea2a64cc2e4f4a41b2114ceef61458a0063f92f6e8e0927cd2c2f6a9
            846417cc6f74ebe6ae09632ab0e7887bc68d139312aafbda3aca83750a37260614ba9a9b5488966d84296699a544167e
            1d294979929d1b1393d21902d53ddb4c93611ee47063b64c4d2a5a75c04902cb552667a7227ab6556252e584919c47b6
            a126d584bc4a62876bcc2215bd67db1daea9299233098799d13d786f349c94501b3b54b56c67c424892239374ea55799
            e4a4dbad385d4a15c90da71bcd0252521eded4901a4a085721b724a52544ab8478cc39dd6c48aa1c7a7426b78ca5aa10
            2005e4a80e2be774b9a1a48633416a2aa1327640ce8d0bdd32bb15b7a1e03efff87a7b3b370003
            """)
    /// 100 MiB of zeros, quality 11, window 24.
    static let bomb = bytes(
        hex: """
            cfffff7ff82700e2b14020f7fe9ffffffff04f00c4610180eefd3fffffffe19f0088c32200ddfb7ffeffffc33f011087
            0500baf7fffcffff877f02200e0b0074effff9ffff0fff04401c1600e8deffe7ffff0ffe0980382c00d0bdff01
            """)
    /// 24 MiB of zeros after 1000 bytes, flushed each 4 MiB, quality 5, window 24.
    static let growingWindow = bytes(
        hex: """
            cfffff1f002400e2b14072ef7f0cfcffff014002200e0b40f7fec700fcffff014002200e0b40f7fec700fcffff014002
            200e0b40f7fec700fcffff014002200e0b40f7fec700fcffff014002200e0b40f7fec70003
            """)
    /// Gzip of json(rows: 40), quality 5, window 16.
    static let overGzip = bytes(
        hex: """
            801e101f8b08000000000002037d95cd6a1b510c465fa5ccda5caefea5bc4ae9c2a40e189c1052279bd077efd032a946
            a059da70e60abe237ddf3f97ebcfe5619e9697f3f3657958aef7cbf3b7b99c96f3e3fdfab1fe737f7bbf9c96d7b7ebe3
            fa638ef9fbf40fb180d85390a8a7f3edd77f8c6cc0c68138f91ec416341eb8814826b607a99b1300066d20819aee416e
            5f04f6c15f6448c89e949e7419b2916c02bc27b51b1611876ea00813ed416b9f4489611ba944827bd27b3274f8579480
            067b32ba6189684476a0a803f3c082a48f1bccea4f2f10cf6450c8c4621060372f735628b88402d4bfe9c92198ae2516
            e825124812819b975c40ba71459244a8364b2ea0fda391342256acc9f41e29268f18856a32decdab9a3c92c95283897e
            b76732693d0a56961be7c1594826e93a7d596f846e5eb324923142596fec6f914332c911a8a884bd4a2e49a598538a4a
            c8ddbceec9a4b0b06212f6f72830a924eb870ad99b149a4c02f25993b16edc88241282610da6bf4894445a03e51acc81
            48c9a3b523b4e442b36f89a4110b7b8985e0a0269247423c4b2e84073d913c52202c2b4ed41745d24803b96c38f14153
            248fcc40ca86931c5445f2c8655a1189b4ef8ae4516044ad6f3bb02189145083f183a6481eb953cd25faa2f8abd1cbfb
            edf6e30fd06998171609000003
            """)
    /// Gzip of 64 MiB of zeros, quality 11, window 24.
    static let overGzipBomb = bytes(
        hex: """
            1fe1fee815a1d2e1218ef96f5dd480c30c6edeed7c385e538b8ca37536b0b079f4ff546e701a714098594414e138008e
            e181d10001085affb70700ce8e1c00a1e8b2150880daf06f7c932b59c33d00a81d9b220180eb7f9f4a1714dc0380924e
            2b06a8fd14add102b6831e3d837b00f0aa96c505b47c9f222cdc0380ddffd2902fc80c26c0e10d80d10d5c00e01200fa
            cf7f251c93906d5457f7792631
            """)
}

/// Returns the bytes written as hex digits; line breaks and spaces are skipped.
func bytes(hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    precondition(digits.count.isMultiple(of: 2), "half a byte")
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
