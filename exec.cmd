@rem Windows has no exec, by which `npm start` lets a shell give way to the server: here it runs what it is given.
@%*
