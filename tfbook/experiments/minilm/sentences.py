"""Sentences for reading a trained model, written for this book. An adjective points to
its noun, a verb to its object, a pronoun to what it stands for.
"""

# sentence; adjective > noun; verb > object (words occur once in their sentence)
PARSED = [
    (
        "The tired farmer sold a brown horse.",
        "tired>farmer brown>horse",
        "sold>horse",
    ),
    (
        "A young doctor opened the heavy door.",
        "young>doctor heavy>door",
        "opened>door",
    ),
    (
        "My neighbour painted her old fence on Sunday.",
        "old>fence",
        "painted>fence",
    ),
    (
        "The clever girl solved a difficult puzzle.",
        "clever>girl difficult>puzzle",
        "solved>puzzle",
    ),
    (
        "Heavy rain flooded the narrow street.",
        "heavy>rain narrow>street",
        "flooded>street",
    ),
    ("The chef served a hot soup before dinner.", "hot>soup", "served>soup"),
    (
        "An honest lawyer read the long contract.",
        "honest>lawyer long>contract",
        "read>contract",
    ),
    (
        "The small boat crossed a wide river at night.",
        "small>boat wide>river",
        "crossed>river",
    ),
    (
        "Our teacher wrote a short poem about winter.",
        "short>poem",
        "wrote>poem",
    ),
    (
        "The hungry dog chased a grey cat.",
        "hungry>dog grey>cat",
        "chased>cat",
    ),
    (
        "A famous painter bought the empty house.",
        "famous>painter empty>house",
        "bought>house",
    ),
    (
        "The young pilot landed a damaged plane.",
        "young>pilot damaged>plane",
        "landed>plane",
    ),
    (
        "Strong winds broke the tall tree behind our garden.",
        "strong>winds tall>tree",
        "broke>tree",
    ),
    (
        "The students visited an ancient temple in spring.",
        "ancient>temple",
        "visited>temple",
    ),
    (
        "A careless driver hit the parked car.",
        "careless>driver parked>car",
        "hit>car",
    ),
    (
        "The quiet nurse carried a clean blanket upstairs.",
        "quiet>nurse clean>blanket",
        "carried>blanket",
    ),
    (
        "The committee rejected the new proposal after lunch.",
        "new>proposal",
        "rejected>proposal",
    ),
    (
        "An angry customer returned the broken lamp.",
        "angry>customer broken>lamp",
        "returned>lamp",
    ),
    (
        "The old king ruled a poor country for years.",
        "old>king poor>country",
        "ruled>country",
    ),
    (
        "Her brother repaired the rusty bicycle.",
        "rusty>bicycle",
        "repaired>bicycle",
    ),
    (
        "A strange light filled the dark room.",
        "strange>light dark>room",
        "filled>room",
    ),
    (
        "The little boy dropped a full glass.",
        "little>boy full>glass",
        "dropped>glass",
    ),
    (
        "Two thieves stole a valuable painting last week.",
        "valuable>painting",
        "stole>painting",
    ),
    (
        "The patient gardener planted red roses.",
        "patient>gardener red>roses",
        "planted>roses",
    ),
    (
        "A loud noise woke the sleeping baby.",
        "loud>noise sleeping>baby",
        "woke>baby",
    ),
    (
        "The company built a modern bridge near the harbour.",
        "modern>bridge",
        "built>bridge",
    ),
    (
        "The brave soldier protected an injured child.",
        "brave>soldier injured>child",
        "protected>child",
    ),
    (
        "My aunt cooked a delicious meal for everyone.",
        "delicious>meal",
        "cooked>meal",
    ),
    (
        "A rich merchant ordered an expensive carpet.",
        "rich>merchant expensive>carpet",
        "ordered>carpet",
    ),
    (
        "The lonely shepherd heard a distant bell.",
        "lonely>shepherd distant>bell",
        "heard>bell",
    ),
    (
        "Cold water filled the deep well.",
        "cold>water deep>well",
        "filled>well",
    ),
    (
        "The reporter asked a simple question.",
        "simple>question",
        "asked>question",
    ),
    (
        "A wise judge ignored the false alarm.",
        "wise>judge false>alarm",
        "ignored>alarm",
    ),
    (
        "The nervous actor forgot an important line.",
        "nervous>actor important>line",
        "forgot>line",
    ),
    (
        "Workers removed the yellow sign from the wall.",
        "yellow>sign",
        "removed>sign",
    ),
    (
        "The happy couple rented a sunny flat.",
        "happy>couple sunny>flat",
        "rented>flat",
    ),
    (
        "A skilled tailor made the green coat.",
        "skilled>tailor green>coat",
        "made>coat",
    ),
    (
        "The library sells rare books to visitors.",
        "rare>books",
        "sells>books",
    ),
    (
        "A lazy student copied the wrong answer.",
        "lazy>student wrong>answer",
        "copied>answer",
    ),
    (
        "The fast train left the crowded station.",
        "fast>train crowded>station",
        "left>station",
    ),
    (
        "His grandmother baked a sweet cake yesterday.",
        "sweet>cake",
        "baked>cake",
    ),
    (
        "The curious child pressed a small button.",
        "curious>child small>button",
        "pressed>button",
    ),
    (
        "A fierce storm destroyed the wooden pier.",
        "fierce>storm wooden>pier",
        "destroyed>pier",
    ),
    ("The bank refused a large loan in March.", "large>loan", "refused>loan"),
    (
        "The kind waiter brought a fresh towel.",
        "kind>waiter fresh>towel",
        "brought>towel",
    ),
    (
        "A blind man touched the smooth stone.",
        "blind>man smooth>stone",
        "touched>stone",
    ),
    ("The museum displays a golden mask.", "golden>mask", "displays>mask"),
    (
        "The proud mother hugged her younger son.",
        "proud>mother younger>son",
        "hugged>son",
    ),
    (
        "A local farmer grows organic potatoes.",
        "local>farmer organic>potatoes",
        "grows>potatoes",
    ),
    (
        "The engineer tested a silent engine twice.",
        "silent>engine",
        "tested>engine",
    ),
    (
        "The bright moon lit the frozen lake.",
        "bright>moon frozen>lake",
        "lit>lake",
    ),
    (
        "A bored guard closed the iron gate.",
        "bored>guard iron>gate",
        "closed>gate",
    ),
    ("The orchestra played a slow waltz.", "slow>waltz", "played>waltz"),
    (
        "The young couple adopted a blind puppy.",
        "young>couple blind>puppy",
        "adopted>puppy",
    ),
    (
        "Thick smoke covered the entire valley.",
        "thick>smoke entire>valley",
        "covered>valley",
    ),
    (
        "The minister signed a secret treaty.",
        "secret>treaty",
        "signed>treaty",
    ),
    (
        "A shy boy caught the biggest fish.",
        "shy>boy biggest>fish",
        "caught>fish",
    ),
    (
        "The cleaner found a silver ring under the sofa.",
        "silver>ring",
        "found>ring",
    ),
    (
        "An old sailor told a funny story.",
        "old>sailor funny>story",
        "told>story",
    ),
    ("The city needs cheap houses.", "cheap>houses", "needs>houses"),
]

# "it" stands for the first noun with the first ending, for the second with the second
AMBIGUOUS = [
    (
        "The animal didn't cross the street because it was too {}.",
        "animal tired",
        "street wide",
    ),
    (
        "The cat slept on the rug because it was so {}.",
        "cat sleepy",
        "rug soft",
    ),
    (
        "The box did not fit into the car because it was too {}.",
        "box large",
        "car small",
    ),
    (
        "The ball broke the window because it was made of {}.",
        "ball steel",
        "window glass",
    ),
    (
        "The boat could not pass the bridge because it was too {}.",
        "boat tall",
        "bridge low",
    ),
    (
        "The child would not eat the soup because it was too {}.",
        "child ill",
        "soup salty",
    ),
    (
        "The truck could not climb the hill because it was too {}.",
        "truck heavy",
        "hill steep",
    ),
    (
        "The knife could not cut the bread because it was too {}.",
        "knife blunt",
        "bread hard",
    ),
    (
        "The horse refused to drink the water because it was {}.",
        "horse nervous",
        "water dirty",
    ),
    (
        "The plant outgrew the pot because it was so {}.",
        "plant healthy",
        "pot tiny",
    ),
    (
        "The dog ran away from the fire because it was {}.",
        "dog scared",
        "fire hot",
    ),
    (
        "The key would not open the lock because it was {}.",
        "key bent",
        "lock rusty",
    ),
    (
        "The ship avoided the reef because it was {}.",
        "ship fragile",
        "reef sharp",
    ),
    (
        "The company bought the factory because it was {}.",
        "company rich",
        "factory cheap",
    ),
    (
        "The bird ignored the seed because it was {}.",
        "bird full",
        "seed rotten",
    ),
    (
        "The team lost the match because it was {}.",
        "team lazy",
        "match unfair",
    ),
]

# a sentence, one that means the same in other words, one that means something else in
# nearly the same words
TRIPLES = [
    (
        "The doctor helped the sick boy.",
        "A physician treated the ill child.",
        "The doctor scolded the rude boy.",
    ),
    (
        "The train was late because of snow.",
        "Winter weather delayed the railway service.",
        "The train was red because of paint.",
    ),
    (
        "She bought a cheap car.",
        "The woman purchased an inexpensive vehicle.",
        "She washed a dirty car.",
    ),
    (
        "The cat is asleep on the sofa.",
        "A kitten naps on the couch.",
        "The cat is afraid of the sofa.",
    ),
    (
        "He lost all his money.",
        "The man went bankrupt.",
        "He counted all his money.",
    ),
    (
        "The film was boring.",
        "I found the movie dull.",
        "The film was expensive.",
    ),
    (
        "It will rain tomorrow.",
        "Showers are forecast for the next day.",
        "It will end tomorrow.",
    ),
    (
        "The baby began to cry.",
        "The infant burst into tears.",
        "The baby began to walk.",
    ),
    (
        "They got married in June.",
        "Their wedding took place in summer.",
        "They got lost in June.",
    ),
    (
        "The soldier was killed in the battle.",
        "A fighter died during combat.",
        "The soldier was praised in the letter.",
    ),
    (
        "My computer does not start.",
        "The laptop fails to boot.",
        "My lesson does not start.",
    ),
    (
        "The teacher praised the pupil.",
        "The schoolmaster commended the student.",
        "The teacher dismissed the pupil.",
    ),
    (
        "We need more time to finish.",
        "The deadline is too early for us.",
        "We need more salt to finish.",
    ),
    (
        "The old man walks slowly.",
        "An elderly gentleman strolls at a gentle pace.",
        "The old man eats slowly.",
    ),
    (
        "The house burned down.",
        "A fire destroyed the home.",
        "The house was sold.",
    ),
    (
        "He speaks English fluently.",
        "His command of the English language is excellent.",
        "He teaches English badly.",
    ),
    (
        "The thief ran from the police.",
        "The robber fled from the officers.",
        "The thief called the police.",
    ),
    (
        "This soup is too salty.",
        "There is too much salt in the broth.",
        "This soup is too cold.",
    ),
    (
        "The plane landed safely.",
        "The aircraft touched down without trouble.",
        "The plane was hijacked.",
    ),
    ("She is afraid of dogs.", "Dogs frighten her.", "She is fond of dogs."),
    (
        "The shop closes at six.",
        "The store is open until 6 pm.",
        "The shop sells at cost.",
    ),
    (
        "He failed the exam.",
        "The student did not pass the test.",
        "He set the exam.",
    ),
    (
        "The garden is full of flowers.",
        "Blossoms grow everywhere in the yard.",
        "The garden is full of rubbish.",
    ),
    (
        "Her brother is a lawyer.",
        "Her sibling works as an attorney.",
        "Her brother is a baker.",
    ),
    (
        "The meeting was cancelled.",
        "The conference was called off.",
        "The meeting was filmed.",
    ),
    (
        "I forgot to lock the door.",
        "The door was left open by mistake.",
        "I forgot to paint the door.",
    ),
    (
        "The city has many parks.",
        "There are lots of green spaces in town.",
        "The city has many thieves.",
    ),
    (
        "The river is very deep.",
        "The water of the stream goes down a long way.",
        "The river is very dirty.",
    ),
    (
        "They argued all night.",
        "The couple quarrelled until morning.",
        "They danced all night.",
    ),
    (
        "The price of bread rose.",
        "A loaf costs more than before.",
        "The smell of bread rose.",
    ),
    (
        "The singer has a beautiful voice.",
        "The vocalist sounds lovely.",
        "The singer has a beautiful house.",
    ),
    (
        "He drives too fast.",
        "The driver keeps breaking the speed limit.",
        "He talks too fast.",
    ),
]
